"""The plugin `ssh`: the pods of a job log in to each other without a password, and know each other's host key.

- `arguments`: what it can be told
- `keys`: the keys, made once a job
- `client`: what an OpenSSH client is told of the job's hosts
- `access`: who of a pod can use a private key, and the mode of its file
- `plugin`: what is put into pods, and the Secret that it comes from
"""

from jobgate.plugins.ssh.arguments import SshArguments
from jobgate.plugins.ssh.plugin import Ssh

__all__ = ["Ssh", "SshArguments"]
