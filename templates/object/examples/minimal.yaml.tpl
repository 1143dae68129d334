apiVersion: $group/$version
kind: $name
metadata:
  name: example
spec:
  region: north
