/** When sessions are judged as a whole. */
export interface SessionSettings {
  /** Without a turn, before a session is judged. */
  readonly quietMs: number;
  /** One that never is quiet for so long is judged every so often all the same. */
  readonly latestMs: number;
  /** Without a turn, before a session is forgotten. */
  readonly keepMs: number;
  /** Sessions that are chosen and remembered. */
  readonly rows: number;
}
