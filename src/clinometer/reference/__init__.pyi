from .answers import released_answers as released_answers
from .components import load_components as load_components
from .published import INTERVENTIONS as INTERVENTIONS
from .published import PUBLISHED as PUBLISHED
from .published import YES_SHARES as YES_SHARES
from .published import load_published as load_published
from .published import load_regressions as load_regressions
