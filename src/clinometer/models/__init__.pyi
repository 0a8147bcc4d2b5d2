from .opening import Connection as Connection
from .opening import Generation as Generation
from .readers.opening import open_reader as open_reader
from .readers.pretrained import Loading as Loading
from .readers.states import HiddenStates as HiddenStates
