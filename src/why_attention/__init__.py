"""Why attention: RNNs, convolutions and attention, measured. Each module is one concept of the chapter."""

__version__ = "0.1.0"
