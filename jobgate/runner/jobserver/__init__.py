"""The server that pods ask for replicas of their job, by the paths of di-server. `access`, for pods, is pure."""
