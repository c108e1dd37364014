-- What people call a session.
ALTER TABLE sessions ADD COLUMN title TEXT;
