/** A part of the trials with poolers, replicas and several gateways: the file of this folder that makes it, and its longest time. */
export interface TopologyPart {
  readonly name: string;
  readonly minutes: number;
}

export const topologyParts: readonly TopologyPart[] = [
  { name: 'rolling-restart', minutes: 6 },
  { name: 'many-organizations', minutes: 8 },
  { name: 'pooler', minutes: 10 },
  { name: 'citus', minutes: 20 },
  { name: 'replica-answers', minutes: 5 },
  { name: 'replica-loss', minutes: 5 },
  { name: 'promotion', minutes: 5 },
  { name: 'slow-network', minutes: 5 },
];
