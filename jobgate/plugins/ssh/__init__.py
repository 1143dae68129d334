"""The plugin `ssh`: the pods of a job log in to each other without a password, and know each other's host key.

- `arguments`: its arguments
- `client`: the configuration of OpenSSH clients
- `access`: which users of a pod can read a private key, and the mode of its file
- `plugin`: the keys, the Secret that holds them, and what is put into pods
"""

from jobgate.plugins.ssh.arguments import SshArguments
from jobgate.plugins.ssh.plugin import Ssh

__all__ = ["Ssh", "SshArguments"]
