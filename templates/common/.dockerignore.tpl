.git
.venv
