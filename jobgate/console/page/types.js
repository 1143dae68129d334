// The answers of the API, as types.

/** @typedef {{rule: string, field: string, message: string, line?: number}} Cause */
/** @typedef {{sign: " " | "+" | "-" | "@", text: string}} DiffLine */
/** @typedef {"denied" | "warned" | "patched" | "allowed" | "later"} Verdict */
/** @typedef {{id: number, key: string, time: string, replica: string, phase: "mutate" | "validate", operation: string, dryRun:
 *   boolean, kind: string, namespace: string, name: string, user: string, verdict:
 *   Verdict, milliseconds: number, operations: number, causes: Cause[], warnings: Cause[]}} Review */
/** @typedef {Review & {yaml: string | null, diff: DiffLine[] | null}} WholeReview */
/** @typedef {{name: string, state: string, message: string}} Source */
/** @typedef {{items: Review[], more: boolean, missed: boolean, replicas: Source[]}} Reviews */
/** @typedef {Record<string, number>} Counts */
/** @typedef {{kind: string, plural: string, namespace: string, name: string, created: string, phase: string, message:
 *   string, pods: Counts, restarts: number, suspended: boolean, runBy:
 *   string}} Job */
/** @typedef {{plural: string, kind: string, unknown: string}} Watched */
/** @typedef {{items: Job[], total: number, matched: number, kinds: Watched[]}} Jobs */
/** @typedef {{name: string, type: string, replicas: number, minimum: number, dependsOn: string[], any: boolean,
 *   state: string, pods: Counts, restarts: number}} Task */
/** @typedef {{name: string, minimum: number, tasks: string[]}} Gang */
/** @typedef {{name: string, phase: string, ready: boolean, restarts: number, node: string, reason: string}} Pod */
/** @typedef {{time: string, type: string, reason: string, message: string, object: string, count: number}} Event_ */
/** @typedef {{type: string, status: string, reason: string, message: string, time: string}} Condition */
/** @typedef {{topic: string, what: string, fix: string, detail: string, pods: string[]}} WhyCause */
/** @typedef {{what: string, why: string}} Unseen */
/** @typedef {{state: string, message: string, causes: WhyCause[], notLookedAt: Unseen[]}} Why */
/** @typedef {{job: Job, tasks: Task[], gangs: Gang[], pods: Pod[], podsTotal: number, objects: {kind: string, name:
 *   string, source: string}[], events: Event_[], eventsTotal: number, conditions: Condition[], why: Why |
 *   null}} WholeJob */
/** @typedef {{kind: string, namespace: string, name: string, faults: Cause[], warnings: string[]}} Audited */
/** @typedef {{jobs: Audited[], reviewed: number, denied: number, left: number, notInstalled: string[], notListed: Unseen[]}} Audit */
/** @typedef {{id: string, severity: string, where: string, what: string, fix: string}} Finding */
/** @typedef {{healthy: boolean, findings: Finding[], notChecked: Unseen[]}} Doctor */
/** @typedef {{resource: string, ageSeconds: number | null, unkept: number}} Cache */
/** @typedef {{name: string, node: string | null, phase: string, ready: boolean, restarts: number, started: string | null, reviews:
 *   {state: string, message: string}, connections: number | null, inFlight: number | null, requests: number |
 *   null, caches: Cache[], certificateGeneration: number | null}} Replica */
/** @typedef {{number: number, state: string, notBefore?: string, notAfter?: string}} Generation */
/** @typedef {{generation: number | null, staged: number | null, renewal: string | null, generations: Generation[],
 *   stages: {name: string, time: string | null}[], problems: string[]}} Certificates */
/** @typedef {{count: number, sumSeconds: number, buckets: {le: number | null, count: number}[]}} Latency */
/** @typedef {{time: string, namespace: string, replicas: Replica[] | null, latency: Latency | null, certificates:
 *   Certificates | null, problems: string[]}} Health */
/** @typedef {{container: string, field: string, text: string, source: string}} Part */
/** @typedef {{task: string, count: number, name: string, notes: string[], parts: Part[]}} PodPlan */
/** @typedef {{notes: string[], beside: {text: string, source: string}[], pods: PodPlan[]}} Explanation */
/** @typedef {{rule: string, severity: string, path: string, message: string, fix: string, line: number, column: number}} Found */
/** @typedef {{line: number, kind: string, name: string, verdict: string, findings:
 *   Found[], diff: DiffLine[] | null, explanation: Explanation | null}} Tried */
/** @typedef {{milliseconds: number, notes: string[], errors: {line: number, column: number, message: string}[], objects: Tried[]}} Trial */
/** @typedef {{version: string, cluster: string, problems: string[]}} About */

export {};
