"""Prerequisites: data, hooks and storage that are published once, and that jobs name with values.

- `models`: the kinds Prerequisite and ClusterPrerequisite
- `item`: one of them as it is stored, what is wrong with it by itself, and the annotation that records it
- `problem`: what can be wrong, with stable reasons
- `reference`: how a job, a pod or an item names one; which ones the tasks of a job name
- `values`: what a template variable may hold
- `resolve`: from references to items in order, each with its values; a pure function
- `content`: what resolved items put into a pod
- `inject`: puts it there
- `stored`: which items are kept in memory
- `status`: whether an item resolves by itself, as the controller writes it
- `script`: the command of a container with hooks around it
"""
