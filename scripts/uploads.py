"""What hostile uploads cost a server and everybody else: memory above idle, and the longest wait of other requests.

    python3 scripts/uploads.py target/release/quipu [CASE...]

Starts the binary in a folder of its own, sends each case, and asks `/health/live` and a small search meanwhile, one after the other.
Prints for each case its statuses, its time, the peak resident memory of the server and its children together above idle (`peak`; `own`
counts pages that both map, such as code, once), and the longest wait. At the end: what stays. Linux only.
"""

import http.client
import io
import json
import multiprocessing
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
import zlib

MIB = 1 << 20
PARALLEL = 24


def form(name, content):
    head = f'--xyz\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode()
    return "/api/v2/knowledge/documents", "multipart/form-data; boundary=xyz", head + content + b"\r\n--xyz--\r\n"


def add(content, sender="mallory"):
    message = {"sender_id": sender, "role": "user", "timestamp": 1_780_000_000_000, "content": content}
    return json_body("/api/v2/memory/add", json.dumps({"session_id": sender, "messages": [message]}).encode())


def json_body(path, body):
    return path, "application/json", body


def zipped(parts):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts:
            archive.writestr(name, content)
    return out.getvalue()


def office(kind, content):
    """A file of one main part: `word/document.xml` for a docx."""
    main = {"docx": "word/document.xml", "xlsx": "xl/workbook.xml", "pptx": "ppt/presentation.xml"}[kind]
    type_of = {
        "docx": "wordprocessingml.document.main",
        "xlsx": "spreadsheetml.sheet.main",
        "pptx": "presentationml.presentation.main",
    }[kind]
    base = "application/vnd.openxmlformats-officedocument"
    types = f'<Types><Override PartName="/{main}" ContentType="{base}.{type_of}+xml"/></Types>'
    target = f'<Relationships><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="{main}"/></Relationships>'
    return zipped([("[Content_Types].xml", types), ("_rels/.rels", target), (main, content)])


def pdf(objects):
    out = b"%PDF-1.7\n"
    for number, body in enumerate(objects, 1):
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    return out + b"trailer\n<</Root 1 0 R>>\n"


def stream(content, entries=b""):
    packed = zlib.compress(content, 9)
    return b"<</Filter/FlateDecode/Length %d%s>>\nstream\n%s\nendstream" % (len(packed), entries, packed)


def page(content):
    return pdf([
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Count 1/Kids[3 0 R]>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>",
        stream(content),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ])


def mutated(source, count):
    chance = random.Random(7)
    for _ in range(count):
        copy = bytearray(source)
        for _ in range(chance.randint(1, 40)):
            copy[chance.randrange(len(copy))] = chance.randrange(256)
        yield bytes(copy[: chance.randint(len(copy) // 2, len(copy))])


def cases():
    text = b"BT /F 9 Tf 72 700 Td (All about goats and their thistles.) Tj ET\n"
    numbers = b"".join(b"%d %d " % (n, n * 7) for n in range(200))
    packed_objects = [stream(numbers + b"1 " * (4 * MIB), b"/Type/ObjStm/N 200/First %d" % len(numbers)) for _ in range(40)]
    cells = b"<w:document xmlns:w='w'><w:body>" + b"<w:p><w:r><w:t>goat</w:t></w:r></w:p>" * 2_000_000
    return {
        "headings": (1, [form("a.md", b"# h\n\nx" * (8 * MIB // 6))]),
        "brackets": (1, [form("b.md", b"[(" * (4 * MIB))]),
        "quotations": (1, [form("c.md", b">" * (3 * MIB))]),
        "lists": (1, [form("d.md", b"+ " * (1 * MIB))]),
        "pdf-bomb": (1, [form("f.pdf", page(text * 3_000_000))]),
        "pdf-objects": (1, [form("g.pdf", pdf([b"<</Type/Catalog/Pages 2 0 R>>", *packed_objects]))]),
        "pdf-mutated": (4, [form(f"{n}.pdf", bad) for n, bad in enumerate(mutated(page(text * 2_000), 200))]),
        "docx-bomb": (1, [form("h.docx", office("docx", b"<w:document xmlns:w='w'><w:body><w:p>" + b" " * (400 * MIB)))]),
        "docx-text": (1, [form("i.docx", office("docx", cells))]),
        "xlsx-bomb": (1, [form("j.xlsx", office("xlsx", b"<workbook><sheets>" + b"<sheet name='s' r:id='x'/>" * 4_000_000))]),
        "uploads-50mb": (PARALLEL, [form(f"k{n}.txt", b"%08d " % n * (50_000_000 // 9)) for n in range(2)] * (PARALLEL // 2)),
        "uploads-60mb": (PARALLEL, [form("l.txt", b"x" * 60_000_000)] * PARALLEL),
        "json-30mb": (PARALLEL, [add("goat " * 6_000_000)] * PARALLEL),
        "json-broken": (PARALLEL, [json_body("/api/v2/memory/add", b'{"session_id": "s", "messages": [' + b'"x",' * 7_500_000)] * PARALLEL),
        "json-numbers": (PARALLEL, [json_body("/api/v2/context/append", b'{"messages": [' + b"0," * 15_000_000 + b"0]}")] * PARALLEL),
        "prose": (1, [form("e.txt", b"".join(b"Goat number %d likes thistles and the old road.\n" % n for n in range(160_000)))]),
    }


class Server:
    def __init__(self, binary, root):
        command = [binary, "--root", root, "serve", "--listen", "127.0.0.1:0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        found = re.search(r"127\.0\.0\.1:(\d+)", self.process.stdout.readline())
        if not found:
            sys.exit(f"{binary} did not start")
        self.port = int(found.group(1))

    def connect(self, timeout=600):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def send(self, case):
        path, kind, body = case
        connection = self.connect()
        try:
            connection.request("POST", path, body, {"content-type": kind})
        except OSError:
            # Refused before the body was sent: the answer is there.
            pass
        try:
            answer = connection.getresponse()
            said = answer.read()
            return answer.status, said.decode(errors="replace")
        except (OSError, http.client.HTTPException):
            return 0, "the connection was closed"
        finally:
            connection.close()

    def memory(self):
        """Resident memory of the server and its children in MiB: the sum, and without what the children share with others."""
        sums, own = 0, 0
        for number in [self.process.pid, *children(self.process.pid)]:
            try:
                if number != self.process.pid and is_starting(number):
                    continue
                with open(f"/proc/{number}/status") as status:
                    fields = dict(line.split(":", 1) for line in status)
                of = lambda name: int(fields[name].split()[0]) / 1024
                sums += of("VmRSS")
                own += of("VmRSS") if number == self.process.pid else of("RssAnon")
            except (OSError, KeyError):
                continue
        return sums, own


def children(number):
    try:
        found = []
        for task in os.listdir(f"/proc/{number}/task"):
            with open(f"/proc/{number}/task/{task}/children") as listed:
                found += [int(child) for child in listed.read().split()]
        return found
    except OSError:
        return []


def is_starting(number):
    """Until it is another program, a child shares the server's memory, which would be counted twice."""
    with open(f"/proc/{number}/cmdline", "rb") as line:
        return b"read-document" not in line.read()


class Watch:
    """Looks at the memory, and asks what everybody asks."""

    def __init__(self, server):
        self.server, self.over = server, multiprocessing.Event()
        self.peak, self.own = multiprocessing.Value("d", 0), multiprocessing.Value("d", 0)
        self.waits = {name: multiprocessing.Value("d", 0) for name in ["live", "search"]}
        self.failed = multiprocessing.Value("i", 0)
        # Processes: the senders keep this one busy.
        work = [self.look, self.live, self.search]
        self.workers = [multiprocessing.Process(target=one) for one in work]
        for worker in self.workers:
            worker.start()

    def look(self):
        while not self.over.is_set():
            sums, own = self.server.memory()
            self.peak.value, self.own.value = max(self.peak.value, sums), max(self.own.value, own)
            time.sleep(0.002)

    def live(self):
        self.ask("live", "GET", "/health/live", None)

    def search(self):
        query = {"user_id": "ann", "query": "where do goats live?", "method": "keyword"}
        self.ask("search", "POST", "/api/v2/memory/search", json.dumps(query).encode())

    def ask(self, name, method, path, body):
        connection = self.server.connect()
        while not self.over.is_set():
            begun = time.perf_counter()
            connection.request(method, path, body, {"content-type": "application/json"})
            answer = connection.getresponse()
            answer.read()
            self.failed.value += answer.status != 200
            self.waits[name].value = max(self.waits[name].value, (time.perf_counter() - begun) * 1e3)
            time.sleep(0.005)

    def end(self):
        self.over.set()
        for worker in self.workers:
            worker.join()


def run(server, name, width, requests):
    idle, waiting, answers, lock = server.memory(), list(requests), [], threading.Lock()

    def work():
        while True:
            with lock:
                if not waiting:
                    return
                case = waiting.pop()
            answer = server.send(case)
            with lock:
                answers.append(answer)

    watch, begun = Watch(server), time.perf_counter()
    senders = [threading.Thread(target=work) for _ in range(width)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    took = time.perf_counter() - begun
    watch.end()
    counts = {}
    for status, _ in answers:
        counts[status] = counts.get(status, 0) + 1
    statuses = " ".join(f"{count}×{status}" for status, count in sorted(counts.items()))
    print(
        f"{name:14} {statuses:20} {took:6.1f} s  peak {watch.peak.value - idle[0]:5.0f} MiB  own {watch.own.value - idle[1]:5.0f} MiB  "
        f"live {watch.waits['live'].value:5.1f} ms  search {watch.waits['search'].value:5.1f} ms" + (f"  FAILED {watch.failed.value}" if watch.failed.value else "")
    )
    said = {re.sub(r"\d{4,}", "…", json.loads(text)["error"]["message"])[:110] for status, text in answers if status >= 400 and text.startswith("{")}
    for words in sorted(said)[:4]:
        print(f"{'':14} {words}")
    sys.stdout.flush()


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    chosen = sys.argv[2:]
    with tempfile.TemporaryDirectory() as root:
        server = Server(sys.argv[1], root)
        try:
            for words in ["Goats live on the hill behind the harbour.", "They eat thistles."]:
                server.send(add(words, "ann"))
            server.send(form("goats.md", b"# Goats\n\nGoats like thistles.\n"))
            server.send(json_body("/api/v2/memory/search", b'{"user_id": "ann", "query": "goats", "method": "keyword"}'))
            time.sleep(1)
            before, _ = server.memory()
            print(f"idle: {before:.0f} MiB")
            for name, (width, requests) in cases().items():
                if not chosen or name in chosen:
                    run(server, name, width, requests)
            time.sleep(3)
            after, _ = server.memory()
            files = [name for name in os.listdir(root) if name.startswith(".tmp")]
            held = [link for link in links(server.process.pid) if "(deleted)" in link]
            print(f"afterwards: {after - before:+.0f} MiB, {len(children(server.process.pid))} children, {len(files) + len(held)} files")
        finally:
            server.process.terminate()
            server.process.wait(timeout=60)


def links(number):
    for name in os.listdir(f"/proc/{number}/fd"):
        try:
            yield os.readlink(f"/proc/{number}/fd/{name}")
        except OSError:
            continue


main()
