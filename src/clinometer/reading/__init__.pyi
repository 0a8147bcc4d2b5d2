from .attributions import read_attribution as read_attribution
from .decisions import read_decision as read_decision
from .parsing import read_pairs as read_pairs
