from .bundling import bundle as bundle
from .comparison import Comparison as Comparison
from .gating import gate as gate
from .ranking import rank as rank
from .runs import ComparedRun as ComparedRun
from .showing import show as show
from .verifying import verify as verify
from .writing import write_comparison as write_comparison
