from .budget import Budget as Budget
from .policy import Policy as Policy
from .policy import load_policy as load_policy
