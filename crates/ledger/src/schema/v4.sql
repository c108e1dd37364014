-- Whose turn it is in a lane, and who has it, are each one step down an index, however many runs wait.
DROP INDEX lanes;
CREATE INDEX lanes ON runs (scope, strategy, owner_kind, owner, state = 'running' DESC,
  cause = 'manual' AND state = 'queued' DESC, due) WHERE finished IS NULL;
CREATE INDEX lane_heads ON runs (scope, strategy, owner_kind, owner) WHERE head = 1;
