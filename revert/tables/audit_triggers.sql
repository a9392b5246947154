-- Revert pymem:tables/audit_triggers from pg

begin;

drop trigger refuse_truncate on memory.memory_events;
drop trigger refuse_change on memory.memory_events;
drop trigger refuse_truncate on memory.embedding_versions;
drop trigger audit on memory.embedding_versions;
drop trigger refuse_truncate on memory.tenant_logins;
drop trigger audit on memory.tenant_logins;
drop trigger refuse_truncate on memory.settings;
drop trigger audit on memory.settings;
drop trigger refuse_truncate on memory.memory_links;
drop trigger audit on memory.memory_links;
drop trigger audit_created on memory.memory_links;
drop trigger refuse_truncate on memory.entities;
drop trigger refuse_delete on memory.entities;
drop trigger audit_deleted on memory.entities;
drop trigger audit_updated on memory.entities;
drop trigger audit_transition on memory.entities;
drop trigger audit_created on memory.entities;
drop trigger refuse_truncate on memory.rule_applications;
drop trigger refuse_change on memory.rule_applications;
drop trigger audit_created on memory.rule_applications;
drop trigger refuse_truncate on memory.rules;
drop trigger refuse_delete on memory.rules;
drop trigger audit_deleted on memory.rules;
drop trigger audit_counted on memory.rules;
drop trigger audit_updated on memory.rules;
drop trigger audit_confirmed on memory.rules;
drop trigger audit_maturity on memory.rules;
drop trigger audit_created on memory.rules;
drop trigger refuse_truncate on memory.facts;
drop trigger refuse_delete on memory.facts;
drop trigger audit_deleted on memory.facts;
drop trigger audit_updated on memory.facts;
drop trigger audit_confirmed on memory.facts;
drop trigger audit_created on memory.facts;
drop trigger refuse_truncate on memory.episodes;
drop trigger audit_deleted on memory.episodes;
drop trigger audit_updated on memory.episodes;
drop trigger audit_expired on memory.episodes;
drop trigger audit_created on memory.episodes;

commit;
