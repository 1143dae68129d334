"""What the generator says when a model cannot become a structural schema."""


class SchemaError(ValueError):
    """A model, field or marker that no structural schema can express.

    Attributes:
        path: The field's place in the model, as `DIJob.spec.tasks[].replicas`.
        problem: What cannot be expressed there, and why.
        fix: What the author may write instead.
    """

    def __init__(self, path: str, problem: str, fix: str) -> None:
        super().__init__(f"{path}: {problem}; {fix}")
        self.path = path
        self.problem = problem
        self.fix = fix
