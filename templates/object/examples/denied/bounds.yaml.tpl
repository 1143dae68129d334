apiVersion: $group/$version
kind: $name
metadata:
  name: example
spec:
  region: north
  minimum: 3
  maximum: 2
