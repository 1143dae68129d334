[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "$package"
version = "0.1.0"
description = "The $what $name of jobgate"
requires-python = ">=3.11"
dependencies = ["jobgate>=$jobgate"]

[project.entry-points."jobgate.${what}s"]
$package = "$package:$constant"

[project.optional-dependencies]
dev = ["jobgate-testing>=$jobgate", "mypy", "pytest", "ruff"]

[tool.ruff]
line-length = 120

[tool.ruff.lint]
select = ["B", "D", "E", "F", "I", "RUF", "SIM", "UP"]

[tool.ruff.lint.pydocstyle]
convention = "google"

[tool.mypy]
strict = true
plugins = ["pydantic.mypy"]
files = ["$package", "tests"]

[tool.pytest.ini_options]
testpaths = ["tests"]
