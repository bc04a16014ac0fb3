#!/usr/bin/env python3
"""Kills and freezes nodes and workers of a fleet, and compares its transitions with those of a run without faults.

It starts three RabbitMQ nodes and three workers on this machine, and 300 receivers of ten sites that report. A fault hits
any of them at a seeded moment, one node at a time; once, all nodes are down. No transition may be lost, doubled or out of
order. Needs a build: swift build --product fleet-engine-run

  Tests/FleetEngineTests/failures.py --reports 90000 --rate 300 --down 300
"""
import argparse, collections, os, random, shutil, signal, subprocess, sys, tempfile, time

parser = argparse.ArgumentParser()
parser.add_argument('--program', default='.build/debug/fleet-engine-run')
parser.add_argument('--reports', type=int, default=60000)
parser.add_argument('--rate', type=int, default=600, help='reports a second, of all receivers')
parser.add_argument('--sites', type=int, default=10)
parser.add_argument('--receivers', type=int, default=30, help='receivers of a site')
parser.add_argument('--nodes', type=int, default=3)
parser.add_argument('--workers', type=int, default=3)
parser.add_argument('--down', type=float, default=0, help='seconds for which all nodes are down, once')
parser.add_argument('--heartbeat', type=int, default=5)
parser.add_argument('--seed', type=int, default=1)
parser.add_argument('--port', type=int, default=25680)
options = parser.parse_args()
chance = random.Random(options.seed)
folder = tempfile.mkdtemp(prefix='fleet-failures-')
began = time.time()
indexes = range(1, options.nodes + 1)
ports = ','.join(str(options.port + i) for i in indexes)
running = []


def say(text):
    print(f'{time.time() - began:7.1f}  {text}', flush=True)


def start(name, command, environment={}, output=None):
    log = open(f'{folder}/{name}.log', 'a')
    process = subprocess.Popen(
        command, env=os.environ | environment, stdin=subprocess.DEVNULL, stdout=output or log, stderr=log,
        start_new_session=True)
    running.append(process)
    return process


def start_node(i):
    home = f'{folder}/n{i}'
    os.makedirs(home, exist_ok=True)
    lines = [
        f'listeners.tcp.1 = 127.0.0.1:{options.port + i}', 'cluster_partition_handling = pause_minority',
        'cluster_formation.peer_discovery_backend = classic_config', 'vm_memory_high_watermark.absolute = 512MB',
    ] + [f'cluster_formation.classic_config.nodes.{k} = r{k}@localhost' for k in indexes]
    open(f'{home}/rabbitmq.conf', 'w').write('\n'.join(lines) + '\n')
    open(f'{home}/plugins', 'w').write('[].\n')
    return start(f'n{i}', ['/usr/lib/rabbitmq/bin/rabbitmq-server'], {
        'HOME': folder, 'ERL_EPMD_PORT': str(options.port), 'RABBITMQ_NODENAME': f'r{i}@localhost',
        'RABBITMQ_NODE_PORT': str(options.port + i), 'RABBITMQ_DIST_PORT': str(options.port + 20 + i),
        'RABBITMQ_CONFIG_FILE': f'{home}/rabbitmq.conf', 'RABBITMQ_MNESIA_BASE': f'{home}/mnesia',
        'RABBITMQ_LOG_BASE': f'{home}/log', 'RABBITMQ_PID_FILE': f'{home}/pid',
        'RABBITMQ_ENABLED_PLUGINS_FILE': f'{home}/plugins', 'RUNNING_UNDER_SYSTEMD': 'true',
        'RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS':
            '+S 1:1 +sbwt none +sbwtdcpu none +sbwtdio none -kernel inet_dist_use_interface {127,0,0,1}',
    })


def starts(i):
    with open(f'{folder}/n{i}.log') as log:
        return log.read().count('Starting broker... completed')


def wait_for_node(i, count, limit=180):
    until = time.time() + limit
    while starts(i) < count and time.time() < until:
        time.sleep(0.2)
    return starts(i) >= count


def start_worker(i):
    # Each begins with another node.
    order = [options.port + (i + k) % options.nodes + 1 for k in range(options.nodes)]
    return start(f'w{i}', [options.program, 'work', ','.join(map(str, order))],
                 {'HEARTBEAT': str(options.heartbeat)})


def lines_of_reader():
    # The last line may not be complete.
    with open(f'{folder}/transitions') as file:
        return file.read().split('\n')[:-1]


def run():
    start('epmd', ['/usr/bin/epmd', '-address', '127.0.0.1', '-port', str(options.port), '-relaxed_command_check'])
    time.sleep(0.5)
    nodes = {}
    for i in indexes:
        nodes[i] = start_node(i)
        if not wait_for_node(i, 1):
            sys.exit(f'node {i} did not start: {folder}')
    workers = {i: start_worker(i) for i in range(options.workers)}
    time.sleep(25)
    environment = {'HEARTBEAT': str(options.heartbeat)}
    reader = start('reader', [options.program, 'read', ports], environment, open(f'{folder}/transitions', 'w'))
    rounds = options.reports // (options.sites * options.receivers)
    feeder = start('feeder', [
        options.program, 'feed', ports, str(options.sites), str(options.receivers), str(rounds), str(options.rate)],
        environment)
    fed = time.time()
    duration = options.reports / options.rate
    faults, outage = collections.Counter(), None
    say(f'{options.reports} reports at {options.rate} a second')
    while feeder.poll() is None:
        time.sleep(chance.uniform(3, 15))
        if options.down and outage is None and time.time() - fed > duration / 2:
            for i in indexes:
                nodes[i].kill()
                nodes[i].wait()
            say(f'all nodes down for {options.down} s')
            outage = time.time()
            time.sleep(options.down)
            counts = {i: starts(i) for i in indexes}
            for i in indexes:
                nodes[i] = start_node(i)
                time.sleep(1)
            up = [wait_for_node(i, counts[i] + 1) for i in indexes]
            say(f'nodes are back: {up}')
            outage = (outage, time.time())
            time.sleep(30)
            continue
        kind = chance.choice(['kill node', 'freeze node', 'kill worker', 'freeze worker'])
        seconds = chance.uniform(1, 40)
        if 'node' in kind:
            i = chance.choice(list(indexes))
            process = nodes[i]
        else:
            i = chance.choice(list(workers))
            process = workers[i]
        say(f'{kind} {i} for {seconds:.0f} s')
        faults[kind] += 1
        if kind.startswith('kill'):
            process.kill()
            process.wait()
            time.sleep(seconds if 'node' in kind else min(seconds, 5))
            if 'node' in kind:
                count = starts(i)
                nodes[i] = start_node(i)
                if not wait_for_node(i, count + 1):
                    say(f'node {i} has not come back')
            else:
                workers[i] = start_worker(i)
        else:
            os.kill(process.pid, signal.SIGSTOP)
            time.sleep(seconds)
            os.kill(process.pid, signal.SIGCONT)
            if 'node' in kind:
                # It may have to join again.
                time.sleep(10)
    expected = options.sites * options.receivers * (rounds // 5)
    say(f'all reports are stored; waiting for {expected} transitions')
    last, since = 0, time.time()
    while len(lines_of_reader()) < expected and time.time() - since < 240:
        count = len(lines_of_reader())
        if count != last:
            last, since = count, time.time()
        time.sleep(1)
    for process in [*workers.values(), reader]:
        process.terminate()
    return check(rounds, expected, faults, outage)


def check(rounds, expected, faults, outage):
    sums, total = [], 0
    for number in range(1, rounds + 1):
        total = (total * 31 + number) % 2 ** 64
        if number % 5 == 0:
            sums.append(total)
    received = collections.defaultdict(list)
    offsets, delays, arrivals = [], [], []
    for line in lines_of_reader():
        offset, id, body, arrival = line.split('\t')
        name, number = id.rsplit('/', 1)
        received[name].append((int(number), int(body.split()[0])))
        offsets.append(int(offset))
        delays.append(float(arrival) - float(body.split()[1]))
        arrivals.append(float(arrival))
    right = list(enumerate(sums, 1))
    wrong = [name for name in (
        f'site{s}/r{r}' for s in range(options.sites) for r in range(options.receivers)) if received[name] != right]
    print(f'faults: {dict(faults)}')
    print(f'transitions: {len(offsets)} of {expected}; receivers with a difference: {len(wrong)}')
    if offsets:
        print(f'published again by workers, and dropped by the reader: {offsets[-1] + 1 - len(offsets)}')
    for name in wrong[:5]:
        have = received[name]
        place = next((i for i, (a, b) in enumerate(zip(have, right)) if a != b), min(len(have), len(right)))
        print(f'  {name}: {len(have)} of {len(right)}, first at {place}: {have[place:place + 3]}')

    def in_outage(time):
        return outage is not None and outage[0] <= time <= outage[1] + 240

    delays.sort()
    if delays:
        p = [delays[min(len(delays) - 1, int(len(delays) * q))] for q in (0.5, 0.9, 0.99)]
        print(f'seconds from a report to its transition: median {p[0]:.2f}, 90 % {p[1]:.2f}, 99 % {p[2]:.2f}, '
              f'longest {delays[-1]:.1f}')
        gaps = [(b - a, a) for a, b in zip(arrivals, arrivals[1:])]
        print('longest pause without any transition: '
              f'{max((g for g, a in gaps if not in_outage(a + g)), default=0):.1f} s')
        if outage:
            print(f'longest pause with all nodes down for {options.down:.0f} s: '
                  f'{max((g for g, a in gaps if in_outage(a + g)), default=0):.1f} s')
    return not wrong


try:
    good = run()
finally:
    for process in running:
        if process.poll() is None:
            process.kill()
            process.wait()
if not good:
    sys.exit(f'the transitions differ; logs: {folder}')
shutil.rmtree(folder)
print('no transition was lost, doubled or out of order')
