"""What all kinds share: names, quantities, tasks, pod templates, and the expression that binds a kind."""
