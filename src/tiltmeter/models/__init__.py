"""The models: how they are opened, the embedded one, and readers of hidden states."""
