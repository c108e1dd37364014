CREATE INDEX files_of_owner ON files (app, owner_kind, owner, project);
