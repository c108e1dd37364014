//! Temporary tuning harness.
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::sync::Arc;
use model::*;
use recall::*;
use serde_json::Value as J;

const SLOPE: f64 = 4.0; const EVEN: f64 = 1.0;
struct Q { text: String, at: Timestamp, gold: BTreeSet<String>, gold_sessions: BTreeSet<String>, cat: String, qid: usize }
struct Case { docs: Vec<(Doc, usize)>, qs: Vec<Q> }

fn msg(scope: &Scope, session: &str, id: &str, sender: &str, name: &str, role: Role, time: Timestamp, text: String) -> Message {
    let mut sid: String = sender.chars().filter(|c| c.is_ascii_alphanumeric()).collect();
    if sid.is_empty() { sid = "x".into(); }
    Message { id: MessageId::new(id), session: SessionKey { scope: scope.clone(), session: SessionId::parse(session).unwrap() },
        sender: SenderId::parse(&sid).unwrap(), sender_name: Some(name.into()), role, time, content: Content::Text(text), tool_calls: vec![], tool_call_id: None }
}

fn locomo_time(s: &str) -> Timestamp {
    // "1:56 pm on 8 May, 2023"
    let (clock, date) = s.split_once(" on ").unwrap();
    let (hm, ap) = clock.split_once(' ').unwrap();
    let (h, m) = hm.split_once(':').unwrap();
    let mut h: i64 = h.parse().unwrap(); let m: i64 = m.parse().unwrap();
    if h == 12 { h = 0 } if ap.starts_with('p') { h += 12 }
    let span = recall::time::resolve(date, Timestamp::from_millis(1_900_000_000_000), &Zone::utc()).unwrap_or_else(|| panic!("{s}"));
    span.from.plus_millis((h * 60 + m) * 60_000)
}

fn load_locomo(path: &str, texts: &mut Vec<String>) -> Vec<Case> {
    let data: J = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let scope = Scope::default();
    let mut cases = vec![];
    for conv in data.as_array().unwrap() {
        let c = &conv["conversation"];
        let mut docs = vec![]; let mut ids = BTreeSet::new(); let mut last = Timestamp::default();
        for n in 1.. {
            let Some(date) = c[format!("session_{n}_date_time")].as_str() else { break };
            let Some(turns) = c[format!("session_{n}")].as_array() else { continue };
            let t0 = locomo_time(date);
            for (i, t) in turns.iter().enumerate() {
                let id = t["dia_id"].as_str().unwrap();
                let mut text = t["text"].as_str().unwrap().to_owned();
                if let Some(cap) = t["blip_caption"].as_str() { text.push_str(&format!(" [image: {cap}]")); }
                let sp = t["speaker"].as_str().unwrap();
                let time = t0.plus_millis(i as i64 * 30_000);
                if time > last { last = time; }
                let m = msg(&scope, &format!("session_{n}"), &id.replace(':', "_"), sp, sp, Role::User, time, text.clone());
                ids.insert(id.to_owned());
                docs.push((Doc::of_message(&m, &Owner::user(Name::parse("caroline").unwrap())), texts.len()));
                texts.push(text);
            }
        }
        let mut qs = vec![];
        for q in conv["qa"].as_array().unwrap() {
            let cat = q["category"].as_i64().unwrap();
            let mut gold = BTreeSet::new();
            for e in q["evidence"].as_array().unwrap() {
                let e = e.as_str().unwrap();
                let b = e.as_bytes();
                let mut i = 0;
                while i < b.len() {
                    if b[i] == b'D' {
                        let rest = &e[i+1..];
                        let a: String = rest.chars().take_while(char::is_ascii_digit).collect();
                        let r2 = &rest[a.len()..];
                        if !a.is_empty() && r2.starts_with(':') {
                            let d: String = r2[1..].chars().take_while(char::is_ascii_digit).collect();
                            if !d.is_empty() {
                                let id = format!("D{}:{}", a.parse::<u32>().unwrap(), d.parse::<u32>().unwrap());
                                if ids.contains(&id) { gold.insert(id.replace(':', "_")); }
                            }
                        }
                    }
                    i += 1;
                }
            }
            if gold.is_empty() || cat == 5 { continue; }
            let text = q["question"].as_str().unwrap().to_owned();
            let gold_sessions = gold.iter().map(|g| format!("session_{}", &g[1..g.find('_').unwrap()])).collect();
            qs.push(Q { text: text.clone(), at: last.plus_millis(86_400_000), gold, gold_sessions, cat: cat.to_string(), qid: texts.len() });
            texts.push(text);
        }
        cases.push(Case { docs, qs });
    }
    cases
}

fn lme_time(s: &str) -> Timestamp {
    // 2023/05/20 (Sat) 02:21
    let p: Vec<&str> = s.split_whitespace().collect();
    let d = p[0].replace('/', "-");
    Zone::utc().parse(&format!("{d}T{}:00", p[2])).unwrap()
}

fn load_lme(path: &str, texts: &mut Vec<String>) -> Vec<Case> {
    let scope = Scope::default();
    let mut cases = vec![];
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let q: J = serde_json::from_str(line).unwrap();
        let dates = q["haystack_dates"].as_array().unwrap();
        let sids = q["haystack_session_ids"].as_array().unwrap();
        let mut docs = vec![]; let mut gold = BTreeSet::new();
        for (k, s) in q["haystack_sessions"].as_array().unwrap().iter().enumerate() {
            let t0 = lme_time(dates[k].as_str().unwrap());
            let sid = sids[k].as_str().unwrap();
            for (i, t) in s.as_array().unwrap().iter().enumerate() {
                let user = t["role"] == "user";
                let id = format!("s{k}_{i}");
                let text = t["content"].as_str().unwrap().to_owned();
                let m = msg(&scope, sid, &id, if user {"u"} else {"bot"}, if user {"user"} else {"assistant"}, if user {Role::User} else {Role::Assistant}, t0.plus_millis(i as i64 * 30_000), text.clone());
                if user && t["has_answer"] == true { gold.insert(id); }
                docs.push((Doc::of_message(&m, &Owner::user(Name::parse("u").unwrap())), texts.len()));
                texts.push(text);
            }
        }
        let text = q["question"].as_str().unwrap().to_owned();
        let gold_sessions = q["answer_session_ids"].as_array().unwrap().iter().map(|s| s.as_str().unwrap().to_owned()).collect();
        let qs = vec![Q { text: text.clone(), at: lme_time(q["question_date"].as_str().unwrap()), gold, gold_sessions, cat: q["question_type"].as_str().unwrap().to_owned(), qid: texts.len() }];
        texts.push(text);
        cases.push(Case { docs, qs });
    }
    cases
}

struct Bench { corpora: Vec<(Corpus, Vec<Q>)>, vecs: Vec<Vec<f32>>, zone: Zone }

fn build(cases: Vec<Case>, vecs: Vec<Vec<f32>>) -> Bench {
    let corpora = cases.into_iter().map(|case| {
        let mut c = Corpus::default();
        for (mut d, v) in case.docs { if let Some(v) = vecs.get(v) { d.vector = Some(v.as_slice().into()); } c.upsert(Arc::new(d)); }
        (c, case.qs)
    }).collect();
    Bench { corpora, vecs, zone: Zone::utc() }
}

impl Bench {
    fn search(&self, c: &Corpus, q: &Q, w: &Weights, n: usize) -> Ranking {
        c.search_weighted(&Query { text: &q.text, vector: self.vecs.get(q.qid).map(Vec::as_slice), method: Method::Hybrid, filter: None, asked_at: q.at, zone: &self.zone, as_of: None, memories_max: 0, messages_max: n, score_min: 0.0 }, w)
    }
    /// frac@k per conversation
    fn locomo(&self, w: &Weights, convs: &[usize], k: usize) -> (f64, BTreeMap<String, (f64, usize)>) {
        let mut by = BTreeMap::new(); let (mut sum, mut n) = (0.0, 0);
        for i in convs {
            let (c, qs) = &self.corpora[*i];
            for q in qs {
                let r = self.search(c, q, w, k);
                let f = r.messages.iter().filter(|h| q.gold.contains(&*h.doc.key.id)).count() as f64 / q.gold.len() as f64;
                sum += f; n += 1;
                let e: &mut (f64, usize) = by.entry(q.cat.clone()).or_default(); e.0 += f; e.1 += 1;
            }
        }
        (sum / n as f64, by)
    }
    /// smooth: mean over gold of 1/log2(1+rank) to 50 plus recall@10
    fn smooth(&self, w: &Weights, convs: &[usize]) -> f64 {
        let (mut sum, mut n) = (0.0, 0);
        for i in convs {
            let (c, qs) = &self.corpora[*i];
            for q in qs {
                let r = self.search(c, q, w, 30);
                let mut f = 0.0;
                for (rank, h) in r.messages.iter().enumerate() { if q.gold.contains(&*h.doc.key.id) { f += 1.0 / (1.0 + ((rank as f64 - 9.5) / 3.0).exp()) } }
                sum += f / q.gold.len() as f64; n += 1;
            }
        }
        sum / n as f64
    }
    fn lme_smooth(&self, w: &Weights, which: &[usize]) -> f64 {
        let (mut sum, mut n) = (0.0, 0.0);
        let soft = |rank: usize, k: f64| 1.0 / (1.0 + ((rank as f64 + 0.5 - k) / 1.5).exp());
        for i in which {
            let (c, qs) = &self.corpora[*i];
            for q in qs {
                let r = self.search(c, q, w, 300);
                let mut sess: Vec<&str> = vec![];
                for h in &r.messages { let s = h.doc.session.as_ref().unwrap().as_str(); if !sess.contains(&s) { sess.push(s); } }
                let f: f64 = q.gold_sessions.iter().map(|g| sess.iter().position(|s| s == g).map_or(0.0, |r| (soft(r, 5.0) + soft(r, 10.0)) / 2.0)).fold(1.0, f64::min);
                sum += f; n += 1.0;
                if !q.gold.is_empty() {
                    let ids: Vec<&str> = r.messages.iter().filter(|h| h.doc.role == Some(Role::User)).map(|h| &*h.doc.key.id).collect();
                    let f: f64 = q.gold.iter().map(|g| ids.iter().position(|s| s == g).map_or(0.0, |r| (soft(r, 5.0) + soft(r, 10.0)) / 2.0)).fold(1.0, f64::min);
                    sum += f; n += 1.0;
                }
            }
        }
        sum / n
    }
    /// session all@5, all@10, turn all@5, all@10
    fn lme(&self, w: &Weights, which: &[usize], verbose: bool) -> [f64; 4] {
        let mut sums = [0.0; 4]; let mut ns = [0.0; 4];
        for i in which {
            let (c, qs) = &self.corpora[*i];
            for q in qs {
                let r = self.search(c, q, w, 2000);
                let mut sess: Vec<&str> = vec![];
                for h in &r.messages { let s = h.doc.session.as_ref().unwrap().as_str(); if !sess.contains(&s) { sess.push(s); } }
                let all = |k: usize| q.gold_sessions.iter().all(|g| sess.iter().take(k).any(|s| s == g));
                let v = [all(5), all(10)];
                if verbose && (!v[0] || !v[1]) { let ranks: Vec<_> = q.gold_sessions.iter().map(|g| sess.iter().position(|s| s == g)).collect(); println!("SESS {} {:?} {}", q.cat, ranks, q.text); }
                for (j, b) in v.iter().enumerate() { sums[j] += f64::from(u8::from(*b)); ns[j] += 1.0; }
                if !q.gold.is_empty() {
                    let ids: Vec<&str> = r.messages.iter().filter(|h| h.doc.role == Some(Role::User)).map(|h| &*h.doc.key.id).collect();
                    let all = |k: usize| q.gold.iter().all(|g| ids.iter().take(k).any(|s| s == g));
                    let v = [all(5), all(10)];
                    if verbose && (!v[0] || !v[1]) { let ranks: Vec<_> = q.gold.iter().map(|g| ids.iter().position(|s| s == g)).collect(); println!("TURN {} {:?} {}", q.cat, ranks, q.text); }
                    for (j, b) in v.iter().enumerate() { sums[2 + j] += f64::from(u8::from(*b)); ns[2 + j] += 1.0; }
                }
            }
        }
        std::array::from_fn(|i| sums[i] / ns[i])
    }
}

fn read_vecs(path: &str) -> Vec<Vec<f32>> {
    let Ok(bytes) = std::fs::read(path) else { return vec![] };
    let dims = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
    bytes[4..].chunks_exact(dims * 4).map(|c| c.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()).collect()
}

fn report(lo: &Bench, lm: &Bench, w: &Weights) {
    let train: Vec<usize> = (0..5).collect(); let test: Vec<usize> = (5..10).collect(); let all: Vec<usize> = (0..10).collect();
    let (a, by) = lo.locomo(w, &all, 10);
    let cats: Vec<String> = by.iter().map(|(c, (s, n))| format!("{c}:{:.3}", s / *n as f64)).collect();
    println!("locomo @5 {:.4} @10 all {:.4} train {:.4} test {:.4} @20 {:.4}  {}", lo.locomo(w, &all, 5).0, a, lo.locomo(w, &train, 10).0, lo.locomo(w, &test, 10).0, lo.locomo(w, &all, 20).0, cats.join(" "));
    let idx: Vec<usize> = (0..lm.corpora.len()).collect();
    let odd: Vec<usize> = (0..lm.corpora.len()).filter(|i| i % 2 == 1).collect();
    println!("lme smooth all {:.4} held out {:.4} {:?}", lm.lme_smooth(w, &idx), lm.lme_smooth(w, &odd), lm.lme(w, &odd, false));
    let r = lm.lme(w, &idx, std::env::args().any(|a| a == "-v"));
    println!("lme session all@5 {:.3} all@10 {:.3} turn all@5 {:.3} all@10 {:.3}", r[0], r[1], r[2], r[3]);
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let (mut lt, mut mt) = (vec![], vec![]);
    let lo = load_locomo("/work/shared/data/locomo10.json", &mut lt);
    let lm = load_lme("/tmp/rk/lme.jsonl", &mut mt);
    if args.first().is_some_and(|a| a == "texts") {
        for (p, t) in [("/tmp/rk/lo.txt", &lt), ("/tmp/rk/lm.txt", &mt)] {
            let mut f = std::io::BufWriter::new(std::fs::File::create(p).unwrap());
            for x in t { writeln!(f, "{}", serde_json::to_string(x).unwrap()).unwrap(); }
        }
        return;
    }
    let suffix = args.iter().find_map(|a| a.strip_prefix("vec=")).unwrap_or("static");
    println!("{} convs {} questions", lo.len(), lo.iter().map(|c| c.qs.len()).sum::<usize>());
    let lo = build(lo, read_vecs(&format!("/tmp/rk/lo.{suffix}.bin")));
    let lm = build(lm, read_vecs(&format!("/tmp/rk/lm.{suffix}.bin")));
    let mut w = Weights::default();
    for a in &args { if let Some((k, v)) = a.split_once('=') { for (n, x) in w.named() { if n == k { *x = v.parse().unwrap(); } } } }
    if args.iter().any(|a| a == "cal") {
        for (name, m, v) in [("hybrid", Method::Hybrid, true), ("keyword", Method::Keyword, false), ("vector", Method::Vector, true)] {
            let (mut fit, mut check): (Vec<(f64, f64)>, Vec<(f64, f64)>) = (vec![], vec![]);
            for (i, (c, qs)) in lo.corpora.iter().enumerate() {
                for q in qs.iter().step_by(5) {
                    let r = c.search_weighted(&Query { text: &q.text, vector: lo.vecs.get(q.qid).filter(|_| v).map(Vec::as_slice), method: m, filter: None, asked_at: q.at, zone: &lo.zone, as_of: None, memories_max: 0, messages_max: 3000, score_min: 0.0 }, &w);
                    for h in &r.messages {
                        let s = f64::from(h.score).clamp(1e-6, 1.0 - 1e-6);
                        let pair = ((s / (1.0 - s)).ln() / SLOPE + EVEN, f64::from(u8::from(q.gold.contains(&*h.doc.key.id))));
                        if i < 5 { fit.push(pair) } else { check.push(pair) }
                    }
                }
            }
            let gold = |v: &Vec<(f64, f64)>| { let mut g: Vec<f64> = v.iter().filter(|p| p.1 > 0.5).map(|p| p.0).collect(); g.sort_by(f64::total_cmp); g };
            let g = gold(&fit);
            let q = |g: &Vec<f64>, f: f64| g[(g.len() as f64 * f) as usize];
            let even = q(&g, 0.5); let slope = 2.0 * 3f64.ln() / (q(&g, 0.75) - q(&g, 0.25));
            println!("{name}: slope {slope:.3} even {even:.3}");
            let score = |x: f64| 1.0 / (1.0 + (-slope * (x - even)).exp());
            let g = gold(&check);
            let n: Vec<f64> = check.iter().filter(|p| p.1 < 0.5).map(|p| score(p.0)).collect();
            for f in [0.1, 0.25, 0.5, 0.75, 0.9] { print!(" gold q{f}:{:.2}", score(q(&g, f))); }
            for t in [0.1, 0.2, 0.3, 0.5, 0.7, 0.9] { print!(" other>={t}:{:.4}", n.iter().filter(|s| **s >= t).count() as f64 / n.len() as f64); }
            println!();
        }
        return;
    }
    if args.iter().any(|a| a == "tune") {
        let fit: Vec<usize> = match args.iter().find_map(|a| a.strip_prefix("fit=")) { Some("b") => (5..10).collect(), Some("all") => (0..10).collect(), _ => (0..5).collect() };
        let lmfit: Vec<usize> = (0..lm.corpora.len()).filter(|i| i % 2 == 0).collect();
        let lmw: f64 = args.iter().find_map(|a| a.strip_prefix("lmw=")).map_or(0.1, |v| v.parse().unwrap());
        let obj = |w: &Weights| lo.smooth(w, &fit) + lmw * if lmw > 0.0 { lm.lme_smooth(w, &lmfit) } else { 0.0 };
        let frozen = ["keyword", "far", "memory", "fresh"];
        let mut best = obj(&w);
        println!("start {best:.4}"); report(&lo, &lm, &w);
        let mut step = 0.5f32;
        while step > 0.1 {
            let mut moved = false;
            for i in 0..w.named().len() {
                if frozen.contains(&w.named()[i].0) { continue; }
                for dir in [1.0 + step, 1.0 / (1.0 + step), -1.0] {
                    let mut t = w.clone();
                    { let mut n = t.named(); let x = &mut *n[i].1; if dir == -1.0 { if *x == 0.0 { *x = 0.05 } else { continue } } else { *x *= dir; } }
                    let v = obj(&t);
                    if v > best + 1e-4 { best = v; w = t; moved = true; break; }
                }
            }
            println!("step {step} {best:.4}");
            if !moved { step *= 0.5; }
        }
        for (n, x) in w.clone().named() { print!("{n}={x:.3} "); }
        println!();
    }
    report(&lo, &lm, &w);
}
