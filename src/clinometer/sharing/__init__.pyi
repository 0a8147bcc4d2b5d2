from .events import write_events as write_events
from .every_eval_ever import write_every_eval_ever as write_every_eval_ever
from .hub import write_hub as write_hub
from .ll144 import scoring_rates as scoring_rates
from .ll144 import selection_rates as selection_rates
from .ll144 import write_ll144 as write_ll144
from .mlflow import log_mlflow as log_mlflow
from .model_card import write_model_card as write_model_card
