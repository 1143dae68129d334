"""The runner: jobs run on Kubernetes' own Job controller, an Indexed Job a task.

Pure:

- `subject`: a job, and what is seen of the objects that it is made of
- `state`: what is remembered of a job, in an annotation of it
- `rendering`: what a job is made of, also of a file; `gangs`: what of it starts together
- `policies`: what has happened, and what lifecycle policies say to that
- `outcome`: what becomes of the job; `progress`: how far it is
- `plan`: what is done next, as `actions`
- `queues`: which jobs may run, and why others wait

With a cluster:

- `seen`: what is there of all jobs that are run; `reading`: the jobs themselves, each spec read once
- `uncreated`: why pods are not created
- `loop`: one look at one job; `dispatch`: which jobs leave their queues; `run`: its life
- `rivals`: operators that run beside

What differs between kinds is a value that the kind binds (`jobgate.jobs.runner`).
"""
