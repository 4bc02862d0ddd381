"""What models learn, on tasks that each isolate one claim: data, models, training, and stored results."""
