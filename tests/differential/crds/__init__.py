"""Our linter's verdict on CRDs against that of a real API server, case by case."""
