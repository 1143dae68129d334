apiVersion: $group/$version
kind: $name
metadata:
  name: example
spec:
  epochs: 10
  tasks:
  - name: worker
    template:
      spec:
        containers:
        - {name: main, image: "train:1"}
