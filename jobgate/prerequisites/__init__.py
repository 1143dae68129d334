"""Prerequisites: data, hooks and storage that are published once, and that jobs name with values.

- `names`: the kinds Prerequisite and ClusterPrerequisite, and how jobs name their objects; `models`: their shape
- `item`: a stored Prerequisite or ClusterPrerequisite, and its faults
- `record`: the annotation that records items
- `problem`: a fault, with a stable reason
- `reference`: references of jobs, pods and items to prerequisites
- `values`: the valid values of template variables
- `resolve`: resolves references to items with values, in order; a pure function
- `content`: the content of a pod from resolved items
- `inject`: puts the content into a pod
- `stored`: the items that are kept in memory
- `status`: the status of an item, which the controller writes
- `script`: the command of a container with hooks around it
"""
