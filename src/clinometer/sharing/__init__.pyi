from .every_eval_ever import write_every_eval_ever as write_every_eval_ever
from .hub import write_hub as write_hub
from .mlflow import log_mlflow as log_mlflow
