"""Prerequisites: data, hooks and storage that are published once, and that jobs name with values.

- `models`: the shape of the kinds Prerequisite and ClusterPrerequisite
- `item`: a stored Prerequisite or ClusterPrerequisite, and its faults
- `problem`: a fault, with a stable reason
- `reference`: the kinds; references of jobs, pods and items to prerequisites, and the annotation that records the items
- `values`: the valid values of template variables
- `resolve`: resolves references to items with values, in order; a pure function
- `content`: the content of a pod from resolved items
- `inject`: puts the content into a pod
- `stored`: the items that are kept in memory
- `status`: the status of an item, which the controller writes
- `script`: the command of a container with hooks around it
"""
