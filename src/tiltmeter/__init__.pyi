from . import asking as asking
from . import comparing as comparing
from . import models as models
from . import networks as networks
from . import reading as reading
from . import reference as reference
from . import states as states
from . import statistics as statistics
from .audits.auditing import Asking as Asking
from .audits.auditing import ask as ask
from .audits.auditing import audit as audit
from .audits.auditing import draw as draw
from .audits.planning import allocate as allocate
from .audits.planning import power as power
from .audits.sizes import PlanOptions as PlanOptions
from .audits.tabulating import estimate as estimate
from .comparing.comparison import compare as compare
from .errors import TiltmeterError as TiltmeterError
from .instruments.catalogue import INSTRUMENTS as INSTRUMENTS
from .instruments.design import Design as Design
from .instruments.scoring import score as score
from .report.document import write_report as write_report
from .results.directory import read_results as read_results
from .statistics.estimates import Inference as Inference
from .stimuli.loading import load_study as load_study
from .stimuli.study import Study as Study

__version__: str
