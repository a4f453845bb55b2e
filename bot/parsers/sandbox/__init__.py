"""The worker process that reads files from strangers and can do nothing else."""
