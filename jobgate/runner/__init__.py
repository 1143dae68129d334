"""The runner: runs jobs on the Job controller of Kubernetes, with one Indexed Job per task.

Pure:

- `subject`: a job, and its observed objects
- `state`: the stored state of a job, in its status
- `rendering`: the objects of a job, also of one in a file; `gangs`: the pods that start together
- `failures`: how failed, evicted and deleted pods are answered, by the Job controller and by lifecycle policies
- `progress`: how far a job is; `outcome`: whether it goes on, is restarted or ends
- `plan`: what to do next, as `actions`
- `queues`: which jobs may run, and why others wait

With a cluster:

- `seen`: the objects of all jobs; `reading`: the jobs themselves, each spec read once
- `uncreated`: why pods are not created; `workloads`: why Kueue has not admitted them
- `loop`: one look at one job; `dispatch`: releases jobs from their queues; `run`: the controller
- `rivals`: operators of the same kinds that are alive

The differences between kinds are in subclasses of `jobgate.jobs.runner.Runner`.
"""
