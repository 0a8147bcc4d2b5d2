from .kappa import agreement as agreement
from .logistic import compare_predictors as compare_predictors
from .logistic import regress as regress
