"""The worker process that reads untrusted files and can do nothing else."""
