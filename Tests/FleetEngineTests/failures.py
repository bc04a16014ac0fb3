#!/usr/bin/env python3
"""Kills and freezes nodes and workers of a fleet, and compares its transitions with those of a run without faults.

It starts three RabbitMQ nodes and three workers on this machine, and 300 receivers of ten sites that report. A fault hits
any of them at a seeded moment, one node at a time; once, all nodes are down. No transition may be lost, doubled or out of
order. Needs a build: swift build --product fleet-engine-run

  Tests/FleetEngineTests/failures.py --reports 90000 --rate 300 --down 300

With --fleet the workers are those of beaconscan-fleet, and the reports are those of simulated sites. The changes of rooms
are compared with those of `beaconscan-fleet replay`. An hour of the sites in ten minutes:

  Tests/FleetEngineTests/failures.py --fleet .build/release/beaconscan-fleet --reports 1080000 --rate 1800 --down 300

With --set-up nodes are killed while a worker sets up the queues of a new fleet, so many times. Each fleet must work then:

  Tests/FleetEngineTests/failures.py --set-up 60 --nodes 1
"""
import argparse, collections, json, os, pathlib, random, shutil, signal, subprocess, sys, tempfile, time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'Checks'))
import rabbitmq  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument('--program', default='.build/debug/fleet-engine-run')
parser.add_argument('--fleet', help='the command beaconscan-fleet')
parser.add_argument('--beacons', type=int, default=20, help='with --fleet: beacons of a site')
parser.add_argument('--reports', type=int, default=60000)
parser.add_argument('--rate', type=int, default=600, help='reports a second, of all receivers')
parser.add_argument('--sites', type=int, default=10)
parser.add_argument('--receivers', type=int, default=30, help='receivers of a site')
parser.add_argument('--nodes', type=int, default=3)
parser.add_argument('--workers', type=int, default=3)
parser.add_argument('--down', type=float, default=0, help='seconds for which all nodes are down, once')
parser.add_argument('--set-up', type=int, default=0, help='kills while queues are declared')
parser.add_argument('--heartbeat', type=int, default=5)
parser.add_argument('--seed', type=int, default=1)
parser.add_argument('--port', type=int, default=25680)
options = parser.parse_args()
chance = random.Random(options.seed)
folder = tempfile.mkdtemp(prefix='fleet-failures-')
began = time.time()
rounds = options.reports // (options.sites * options.receivers)
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
    settings = ['vm_memory_high_watermark.absolute = 512MB']
    if options.nodes > 1:
        settings += ['cluster_partition_handling = pause_minority',
                     'cluster_formation.peer_discovery_backend = classic_config']
        settings += [f'cluster_formation.classic_config.nodes.{k} = r{k}@localhost' for k in indexes]
    return start(f'n{i}', [rabbitmq.SERVER], rabbitmq.prepare(
        pathlib.Path(folder, f'n{i}'), f'r{i}', options.port + i, options.port + 20 + i, options.port, settings,
        '+S 1:1', folder))


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
    if options.fleet:
        return start(f'w{i}', [options.fleet, 'work', '--sites', f'{folder}/sites', '--engine',
                               ','.join(f'127.0.0.1:{port}' for port in order)])
    return start(f'w{i}', [options.program, 'work', ','.join(map(str, order))],
                 {'HEARTBEAT': str(options.heartbeat)})


def lines_of_reader(name='transitions'):
    # The last line may not be complete.
    with open(f'{folder}/{name}') as file:
        return file.read().split('\n')[:-1]


def transitions():
    """Returns the id, the body and the arrival of each transition; workers may publish one again."""
    found = {}
    for line in lines_of_reader():
        _, id, body, arrival = line.split('\t')
        found.setdefault(id, (id, body, float(arrival)))
    return list(found.values())


def make_sites():
    """Makes the sites and their reports; returns the changes of rooms of each beacon without faults."""
    os.makedirs(f'{folder}/sites')
    changes = collections.defaultdict(list)
    for number in range(options.sites):
        name, made = f'site{number}', f'{folder}/site{number}'
        subprocess.run([options.fleet, 'simulate', made, '--rooms', str(options.receivers), '--beacons',
                        str(options.beacons), '--seconds', str(rounds), '--seed', str(options.seed * 1000 + number)],
                       check=True, stdout=subprocess.DEVNULL)
        for file in ('site.toml', 'reports.jsonl'):
            path = pathlib.Path(made, file)
            path.write_text(path.read_text().replace('"demo"', f'"{name}"'))
        shutil.copy(f'{made}/site.toml', f'{folder}/sites/{name}.toml')
        replayed = subprocess.run([options.fleet, 'replay', f'{made}/site.toml', f'{made}/reports.jsonl', '--format', 'json'],
                                  check=True, stdout=subprocess.PIPE, text=True)
        for line in replayed.stdout.splitlines():
            change = json.loads(line)
            # The last seconds wait for reports that do not come.
            if int(change['id'].rpartition('/')[2]) <= rounds - 12:
                changes[name, change['beacon']].append(content(change))
    return changes


def content(change):
    return int(change['id'].rpartition('/')[2]), [change.get(key) for key in (
        'former', 'formerIsOutside', 'room', 'isOutside', 'probability', 'runnerUp', 'runnerUpProbability', 'missing')]


def start_feeder(environment):
    if options.fleet:
        files = [f'{folder}/site{number}/reports.jsonl' for number in range(options.sites)]
        speed = options.rate / (options.sites * options.receivers)
        return start('feeder', [options.fleet, 'publish', *files, '--speed', str(speed), '--engine',
                                ','.join(f'127.0.0.1:{port}' for port in ports.split(','))])
    return start('feeder', [
        options.program, 'feed', ports, str(options.sites), str(options.receivers), str(rounds), str(options.rate)],
        environment)


def stop_all():
    for process in running:
        if process.poll() is None:
            process.kill()
        process.wait()
    running.clear()


def start_nodes():
    start('epmd', rabbitmq.names_command(options.port))
    time.sleep(0.5)
    nodes = {}
    for i in indexes:
        nodes[i] = start_node(i)
        if not wait_for_node(i, 1):
            sys.exit(f'node {i} did not start: {folder}')
    return nodes


def set_up(number):
    """Kills a node while a worker sets up a new fleet, and returns whether all reports are processed then."""
    nodes = start_nodes()
    environment = {'HEARTBEAT': str(options.heartbeat)}
    start('worker', [options.program, 'work', ports], environment)
    while 'connected to' not in pathlib.Path(folder, 'worker.log').read_text():
        time.sleep(0.01)
    # The set-up takes eight seconds.
    seconds, i = chance.uniform(0, 10), chance.choice(list(indexes))
    time.sleep(seconds)
    nodes[i].kill()
    nodes[i].wait()
    nodes[i] = start_node(i)
    if not wait_for_node(i, 2):
        sys.exit(f'node {i} has not come back: {folder}')
    began = time.time()
    start('reader', [options.program, 'read', ports], environment, open(f'{folder}/transitions', 'w'))
    start('feeder', [options.program, 'feed', ports, str(options.sites), '1', '5', '1000'], environment)
    # A slow disk takes its time; a fleet that does not work takes for ever.
    while (count := len(transitions())) < options.sites and time.time() - began < 180:
        time.sleep(0.2)
    stop_all()
    say(f'{number}: node {i} killed after {seconds:.2f} s; {count} of {options.sites} after {time.time() - began:.0f} s')
    return count == options.sites


def set_up_all():
    for number in range(1, options.set_up + 1):
        if not set_up(number):
            return False
        shutil.rmtree(folder)
        os.mkdir(folder)
    return True


def run():
    changes = make_sites() if options.fleet else None
    nodes = start_nodes()
    workers = {i: start_worker(i) for i in range(options.workers)}
    time.sleep(25)
    environment = {'HEARTBEAT': str(options.heartbeat)}
    reader = start('reader', [options.program, 'read', ports], environment, open(f'{folder}/transitions', 'w'))
    if options.fleet:
        start('pictures', [options.program, 'pictures', ports], environment, open(f'{folder}/pictures', 'w'))
    feeder = start_feeder(environment)
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
    if feeder.returncode != 0:
        sys.exit(f'the reports were not published: {folder}/feeder.log')
    expected = sum(map(len, changes.values())) if options.fleet else options.sites * options.receivers * (rounds // 5)
    say(f'all reports are stored; waiting for {expected} transitions')
    last, since = 0, time.time()
    while (count := len(transitions())) < expected and time.time() - since < 240:
        if count != last:
            last, since = count, time.time()
        time.sleep(1)
    if options.fleet:
        # Changes beyond the expected ones would be wrong.
        time.sleep(30)
    for process in [*workers.values(), reader]:
        process.terminate()
    print(f'faults: {dict(faults)}')
    return check_changes(changes, outage) if options.fleet else check(expected, outage)


def check_changes(expected, outage):
    """Compares the changes of rooms, whose seconds are later than those of the recorded reports."""
    received = collections.defaultdict(list)
    found = transitions()
    for _, body, _ in found:
        change = json.loads(body)
        received[change['site'], change['beacon']].append(content(change))
    wrong, count = [], 0
    for number in range(options.sites):
        name = f'site{number}'
        keys = [key for key in {**expected, **received} if key[0] == name]
        first = min(second for key in keys for second, _ in expected[key])
        shift = min((second for key in keys for second, _ in received[key]), default=0) - first
        for key in keys:
            have = [(second - shift, rest) for second, rest in received[key] if second - shift <= rounds - 12]
            count += len(have)
            if have != expected[key]:
                wrong.append((key, have))
    print(f'changes of rooms: {count} of {sum(map(len, expected.values()))}; beacons with a difference: {len(wrong)} of '
          f'{options.sites * options.beacons}')
    print(f'published again by workers: {len(lines_of_reader()) - len(found)}')
    for key, have in wrong[:5]:
        right = expected[key]
        place = next((i for i, (a, b) in enumerate(zip(have, right)) if a != b), min(len(have), len(right)))
        print(f'  {key}: {len(have)} of {len(right)}, first at {place}:\n    {have[place:place + 2]}\n    {right[place:place + 2]}')
    arrivals = collections.defaultdict(list)
    for line in lines_of_reader('pictures'):
        _, id, arrival = line.split('\t')
        arrivals[id.split('/')[0]].append(float(arrival))
    gaps = [(b - a, a - began, site) for site, times in arrivals.items() for a, b in zip(times, times[1:])]
    # By that of all nodes, and the others.
    parts = collections.defaultdict(list)
    for gap in gaps:
        parts[bool(outage and gap[1] <= outage[0] - began <= gap[1] + gap[0])].append(gap)
    print(f'pictures: {sum(map(len, arrivals.values()))}; longest times without a picture of a site:')
    for gap, start, site in sorted(parts[False], reverse=True)[:10]:
        print(f'  {gap:.1f} s from {start:.1f} on, {site}')
    if outage:
        print(f'with all nodes down for {options.down:.0f} s: {max(parts[True], default=(0,))[0]:.1f} s')
    return not wrong and count > 0


def check(expected, outage):
    sums, total = [], 0
    for number in range(1, rounds + 1):
        total = (total * 31 + number) % 2 ** 64
        if number % 5 == 0:
            sums.append(total)
    received = collections.defaultdict(list)
    delays, arrivals = [], []
    for id, body, arrival in transitions():
        name, number = id.rsplit('/', 1)
        received[name].append((int(number), int(body.split()[0])))
        delays.append(arrival - float(body.split()[1]))
        arrivals.append(arrival)
    right = list(enumerate(sums, 1))
    wrong = [name for name in (
        f'site{s}/r{r}' for s in range(options.sites) for r in range(options.receivers)) if received[name] != right]
    print(f'transitions: {len(arrivals)} of {expected}; receivers with a difference: {len(wrong)}')
    print(f'published again by workers: {len(lines_of_reader()) - len(arrivals)}')
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
    good = set_up_all() if options.set_up else run()
finally:
    stop_all()
if not good:
    sys.exit(f'the transitions differ; logs: {folder}')
shutil.rmtree(folder)
print('every fleet works' if options.set_up else 'no transition was lost, doubled or out of order')
