"""A made-up day of a GPU cluster, the same every time: nodes.csv and tasks.csv.

day.py FOLDER NODES TASKS
"""
import random
import sys

folder, nodes, tasks = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
draw = random.Random(1)
with open(f"{folder}/nodes.csv", "w") as out:
    print("sn,cpu_milli,memory_mib,gpu,model", file=out)
    for number in range(nodes):
        cpu, memory, gpus, model = draw.choice(
            [(96000, 393216, 8, "A"), (64000, 262144, 4, "B"), (32000, 131072, 2, "B"), (64000, 524288, 0, "")])
        print(f"node-{number:05},{cpu},{memory},{gpus},{model}", file=out)
with open(f"{folder}/tasks.csv", "w") as out:
    print("name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time", file=out)
    for number in range(tasks):
        gpus, milli = draw.choice([(0, 0), (1, 1000), (1, 1000), (1, 250), (1, 470), (2, 1000), (8, 1000)])
        cpu, memory = draw.choice([1000, 4000, 6500, 12000]), draw.choice([2048, 8192, 30517])
        start = draw.randrange(86400)
        end = start + draw.randrange(60, 43200)
        model = draw.choice(["", "", "A", "A|B"]) if gpus else ""
        print(f"task-{number:06},{cpu},{memory},{gpus},{milli},{model},LS,Running,{start},{end},{start}", file=out)
