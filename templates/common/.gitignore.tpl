__pycache__/
.venv/
dist/
