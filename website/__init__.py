"""The documentation as a website: `make site` builds it from README.md, docs/ and the help of the commands."""
