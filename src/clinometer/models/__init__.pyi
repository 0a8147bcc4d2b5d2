from .opening import Connection as Connection
from .opening import Generation as Generation
