from .associating import collect_associations as collect_associations
from .association_plan import AssociationPlan as AssociationPlan
from .budget import Budget as Budget
from .contexts import ContextOptions as ContextOptions
from .contexts import make_contexts as make_contexts
from .policy import Policy as Policy
from .policy import load_policy as load_policy
