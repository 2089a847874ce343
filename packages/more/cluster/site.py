"""An example of a site for ReFrame: one Slurm partition. Change what your cluster calls by other
names.
"""

site_configuration = {
    "systems": [
        {
            "name": "cluster",
            "descr": "Machines to be compared by ipclab",
            "hostnames": [".*"],
            "partitions": [
                {
                    "name": "nodes",
                    "scheduler": "squeue",  # of sacct, which needs accounting: "slurm"
                    "launcher": "local",  # one process starts the others, on this node
                    "access": ["--partition=all"],
                    "environs": ["plain"],
                    "max_jobs": 1000,
                }
            ],
        }
    ],
    "environments": [{"name": "plain"}],
}
