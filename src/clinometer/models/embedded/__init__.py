"""The embedded model: an inspect provider that needs no key, no server and no hub.

``provider`` is what inspect sees, ``weights`` finds and loads the model, ``engine`` runs it,
``decoding`` turns log-probabilities into answers and ``worker`` shares it among requests.
"""
