-- Revert pymem:functions/core/lifecycle/erasure from pg

begin;

drop function memory.verify_erasure(text);
drop function memory.erase_subject(text,boolean,boolean);
drop function memory.embed_next_turns(text,memory.subject_traces);
drop function memory.delete_traces(text,memory.subject_traces,memory.fact_keys[],boolean);
drop function memory.count_traces(text,memory.subject_traces,boolean);
drop function memory.concerns_subject(memory.consolidation_proposals,memory.subject_traces,boolean);
drop function memory.memories_of(memory.subject_traces);
drop function memory.find_outcomes(text,memory.subject_traces,boolean);
drop function memory.lock_traces(text,memory.subject_traces);
drop function memory.find_next_turns(text,uuid[]);
drop function memory.find_traces(text,memory.subject_traces,boolean);
drop function memory.lock_subject(text,text,boolean);
drop function memory.find_subject(text,text,boolean);

commit;
