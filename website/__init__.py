"""The website of the documentation: `make site` builds it from README.md, docs/ and the help of the commands."""
