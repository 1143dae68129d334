"""The plugin `ssh`: the pods of a job can log in to each other without a password, and know each other's host key.

- `arguments`: its arguments
- `client`: the configuration of OpenSSH clients
- `access`: which users of a pod can read a private key, and the mode of its file
- `plugin`: the keys, their Secret, and the files in pods
"""

from jobgate.plugins.ssh.arguments import SshArguments
from jobgate.plugins.ssh.plugin import Ssh

__all__ = ["Ssh", "SshArguments"]
