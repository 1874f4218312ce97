/** Addresses of other pages with the time range of this one. */
import { pageAddress, pickedQuery, type Query } from './address.ts';
import { rangeParameters } from './time-range.ts';

/** The list of runs with these filters. */
export function runsAddress(query: Query, filters: Query): string {
  return pageAddress('/runs', { ...pickedQuery(query, rangeParameters), ...filters });
}

/** The page of one agent. A name that a browser would resolve as a folder is in the query. */
export function agentAddress(agent: string, query: Query = {}): string {
  const name = agent.toWellFormed();
  const isFolder = /^\.{1,2}$/.test(name) || name.trim() === '';
  return isFolder ? pageAddress('/agents/-', { agent: name, ...query }) : pageAddress(`/agents/${encodeURIComponent(name)}`, query);
}

/** The agent that `agentAddress` names. */
export function agentOf(params: { readonly [name: string]: string }, query: Query): string {
  const { agent = '' } = params;
  return agent === '-' ? (query['agent'] ?? '-') : agent;
}
