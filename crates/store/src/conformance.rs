//! The contract of the traits as tests, one behaviour each, for every store.
//!
//! A store crate provides a [`Factory`] and turns the whole suite into tests with one line:
//! `headwater_store::conformance_tests!(MyFactory::new());`. Nothing here knows an engine.

#![allow(
    clippy::unwrap_used,
    reason = "a test's failure is a panic, whatever crate it lives in"
)]

use std::sync::Arc;

use async_trait::async_trait;

use crate::{FileStorage, Store};

pub mod accounts;
pub mod admission;
pub mod audit;
pub mod backlog;
pub mod catalog;
pub mod causes;
pub mod commits;
pub mod conflicts;
pub mod data_stores;
pub mod deletion;
pub mod deliveries;
pub mod delivery_search;
pub mod discarding;
pub mod dispatch;
pub mod event_replay;
pub mod event_search;
pub mod event_views;
pub mod files;
mod fixture;
pub mod folders;
pub mod history;
pub mod lists;
pub mod names;
pub mod nodes;
pub mod queue;
pub mod redelivery;
pub mod registry;
pub mod run_search;
pub mod runs;
pub mod scheduled;
pub mod sealed;
pub mod sessions;
pub mod source_deployments;
pub mod source_health;
pub mod sources;
pub mod subscriptions;
pub mod tail;
pub mod tenants;
pub mod timers;
pub mod together;
pub mod webhook_health;
pub mod webhooks;
pub mod workflow_runs;
pub mod workflows;

/// Makes the stores under test.
#[async_trait]
pub trait Factory: Send + Sync {
    /// A new, empty store.
    async fn open(&self) -> Arc<dyn Store>;

    /// Closes a store and opens it again, as another process would find it. The caller holds no other handle of it.
    async fn reopen(&self, old: Arc<dyn Store>) -> Arc<dyn Store>;

    /// Another handle on a store that is open, as another node has it. Where one process owns the store, that is the same
    /// handle once more.
    async fn also_open(&self, store: &Arc<dyn Store>) -> Arc<dyn Store>;
}

/// Makes the storages of files under test.
#[async_trait]
pub trait FilesFactory: Send + Sync {
    /// A new, empty storage.
    async fn open(&self) -> Arc<dyn FileStorage>;

    /// The same storage, as another process would find it after the former was killed.
    async fn reopen(&self, old: Arc<dyn FileStorage>) -> Arc<dyn FileStorage>;
}

/// Turns the suite of files into tests: `files_conformance_tests!(an expression that makes a factory)`, with absolute paths.
#[macro_export]
macro_rules! files_conformance_tests {
    ($factory:expr) => {
        $crate::conformance_tests! { @suite $factory;
            files {
                files_are_the_same_after_reopen,
                a_content_has_any_size,
                a_file_that_is_read_stays_the_same,
                nobody_sees_a_file_before_its_commit,
                a_folder_is_listed_page_by_page,
                paths_have_any_characters,
                files_end_at_their_time,
                files_of_a_tenant_are_deleted_together,
                a_bound_holds_however_many_write_at_once,
                a_file_that_replaces_another_takes_its_room,
            }
        }
    };
}

/// Turns the suite into tests: `conformance_tests!(an expression that makes a factory)`, with absolute paths.
#[macro_export]
macro_rules! conformance_tests {
    ($factory:expr) => {
        $crate::conformance_tests! { @suite $factory;
            catalog {
                a_component_is_found_by_its_id,
                a_key_means_the_newest_component_of_the_workspace_or_the_user,
                a_key_means_the_highest_version,
                an_artifact_is_kept_once,
                the_same_code_is_one_component,
                a_component_is_deleted_while_nothing_uses_it,
                events_are_paged_both_ways,
                a_page_begins_behind_a_cursor_that_is_gone,
                channels_and_emitters_are_listed_apart,
                sources_are_paged_both_ways,
            }
            lists {
                a_list_of_sources_is_reduced_by_name_and_state,
                a_list_of_sources_is_reduced_by_trigger_and_component,
                a_list_of_workflows_is_reduced_by_name_and_state,
                sources_are_paged_both_ways_in_every_order,
                an_ordered_list_goes_on_behind_a_source_that_has_moved,
            }
            accounts {
                accounts_are_created_and_deleted,
                a_renamed_account_keeps_its_credentials,
                accounts_are_listed_by_owner,
                accounts_are_paged_both_ways,
                accounts_that_need_somebody_come_first,
                of_two_renewals_one_counts,
                health_is_noted_of_the_credentials_it_was_found_with,
                a_link_is_followed_once,
                a_state_counts_once,
                a_connect_ends_once_with_its_account,
                connects_are_forgotten_in_time,
            }
            folders {
                components_of_a_folder_are_published_before_they_are_built,
                a_component_is_built_once,
            }
            registry {
                the_highest_release_wins,
                a_published_version_never_changes,
                a_key_belongs_to_who_published_it_first,
                published_components_are_told_apart,
                one_component_per_key_is_listed,
                components_of_steps_are_not_listed,
                components_are_searched,
                drafts_without_a_source_are_left_out,
                components_are_paged_both_ways,
            }
            sources {
                a_source_reads_back_as_it_was_written,
                a_taken_slug_is_numbered,
                endpoints_lead_to_their_source,
                states_and_names_change_alone,
                a_source_that_is_gone_is_a_conflict,
                settling_commits_what_the_hooks_did,
                settling_is_all_or_nothing,
                the_queue_is_dropped_when_a_source_ends_inactive,
                checkpoints_outlast_an_inactive_source,
                the_queue_is_kept_when_a_source_ends_active,
                the_dedupe_state_is_reset_when_the_strategy_changes,
                unsettled_sources_are_found,
                all_unsettled_sources_are_reached_in_steps,
                sources_are_listed_by_user_and_by_workspace,
                deleting_a_source_removes_everything_of_it,
            }
            commits {
                event_ids_increase_across_reopen_and_when_the_clock_steps_back,
                event_ids_increase_after_all_events_were_deleted,
                channels_of_an_emitter_share_its_ids,
                an_event_is_kept_byte_for_byte,
                a_number_as_key_stays_a_number,
                texts_have_any_length_and_characters,
                commits_at_the_same_time_are_each_written_or_refused,
                the_last_write_of_a_key_in_a_batch_counts,
                a_commit_writes_everything_together,
                a_commit_is_refused_after_the_node_started_anew,
                a_commit_is_refused_after_a_later_attempt_claimed_the_invocation,
                a_commit_is_refused_after_the_lease_was_given_back,
                completing_twice_writes_once,
                a_commit_is_refused_with_the_lease_of_another_source,
                a_run_that_outlives_its_lease_commits_if_nobody_took_it,
                a_commit_is_refused_after_the_source_was_deleted,
                a_source_that_is_inactive_or_being_deleted_may_still_commit,
                a_refused_commit_in_the_middle_of_a_batch_takes_nothing_with_it,
                a_dedupe_state_behind_a_refused_one_is_refused,
                a_batch_is_committed_in_its_order,
                a_checkpoint_goes_on_with_its_state_when_it_is_due,
                a_checkpoint_is_refused_after_its_lease_was_lost,
                key_values_are_set_overwritten_and_deleted,
                usage_counts_per_user_workspace_and_utc_day,
            }
            workflows {
                a_workflow_reads_back_as_it_was_written,
                a_taken_slug_of_a_workflow_is_numbered,
                an_id_of_another_owner_is_taken,
                former_deployments_stay,
                an_unchanged_timer_keeps_its_phase,
                turning_off_drops_ticks_and_events_that_have_not_begun,
                a_run_by_hand_begins_while_its_workflow_is_inactive,
                events_of_its_feeds_reach_a_workflow,
                an_automatic_subscription_reaches_later_workflows_only,
                events_reach_no_workflow_that_the_subscriber_cannot_see,
                deleting_a_workflow_removes_everything_of_it,
            }
            admission {
                a_full_lane_leaves_other_lanes_their_room,
                a_full_queue_refuses_runs,
                a_key_is_of_one_run_until_it_expires,
                ended_runs_go_after_the_days_of_their_workflow,
                a_forgotten_run_leaves_its_record,
                events_wait_in_the_log_for_room,
            }
            together {
                a_bounded_workflow_takes_no_more_at_the_same_time,
                an_answer_beside_the_checkpoint_is_not_lost,
                commits_of_one_run_follow_each_other,
            }
            workflow_runs {
                health_of_workflows_has_open_runs_and_the_next_tick,
                a_run_goes_on_from_its_last_step,
                a_run_that_waits_does_not_stop_the_clock,
                a_wait_is_answered_once,
                answers_of_several_runs_are_read_in_their_order,
                a_workflow_that_is_being_deleted_runs_nothing_more,
                an_answer_before_the_checkpoint_is_not_lost,
                places_go_with_their_run,
                a_claim_may_be_of_runs_that_go_on_alone,
                open_runs_are_listed_newest_first,
                called_runs_begin_with_the_commit_that_calls_them,
                a_send_has_one_lease,
                sends_of_a_lost_claim_are_given_back,
                variables_are_their_tenants_own,
            }
            conflicts {
                a_member_or_workspace_that_is_gone_is_named,
                what_can_be_had_once_is_taken,
                a_source_needs_its_component_and_an_endpoint_of_its_own,
                an_invocation_is_queued_once,
            }
            data_stores {
                a_record_is_kept_byte_for_byte,
                stores_of_a_name_are_their_owners_own,
                an_expired_record_is_gone_at_its_time,
                a_record_is_overwritten_and_deleted,
                a_stretch_of_records_is_bounded_by_number_and_bytes,
                records_are_paged_both_ways,
                records_are_paged_by_the_beginning_of_their_keys,
                a_page_of_large_records_ends_early,
                a_full_store_takes_no_more,
                expired_records_make_room,
                clearing_leaves_an_empty_store,
                sweeping_frees_what_is_gone,
                data_stores_are_paged_both_ways,
                a_deleted_data_store_is_gone_with_its_records,
                data_stores_end_with_their_user,
                the_sources_of_a_data_store_are_those_whose_props_stand_for_it,
            }
            nodes {
                two_nodes_never_hold_one_runnable,
                a_dead_nodes_runnable_is_taken_over,
                leases_of_a_living_node_survive_another_nodes_start,
                a_heartbeat_keeps_a_node_alive,
                a_node_that_started_anew_lost_everything_of_its_former_epoch,
                a_late_holder_that_nobody_has_replaced_still_commits,
                work_that_another_living_node_holds_is_not_offered,
                a_clean_stop_frees_everything_at_once,
                a_runnable_that_was_given_back_is_free,
                an_invocation_is_queued_whatever_happens_to_the_lease,
                events_of_concurrent_writers_are_each_read_once_in_order,
            }
            queue {
                epochs_increase_across_reopen,
                an_enqueued_invocation_is_claimed_as_it_was_given,
                enqueue_is_refused_for_a_source_that_takes_no_triggers,
                invocations_at_the_same_time_are_each_queued_or_refused,
                a_claim_never_hands_out_a_held_lease,
                work_of_a_lost_claim_is_given_back,
                one_invocation_is_claimed_by_its_id,
                claims_at_the_same_time_share_the_work,
                an_expired_lease_is_claimable,
                the_oldest_invocation_is_claimed_first,
                a_claim_takes_no_more_bytes_than_there_is_room_for,
                a_claim_takes_one_sources_work,
                a_released_lease_is_claimable_and_not_counted_as_a_start,
                starts_count_leases_that_were_never_given_back,
                extending_prolongs_held_leases_only,
                runnables_with_work_are_those_with_invocations_that_nobody_holds,
                inactive_sources_have_no_work,
                the_backlog_is_what_has_not_ended,
                the_backlog_has_the_deliveries_that_have_not_ended,
                all_runnables_with_work_are_reached_in_steps,
                an_invocation_is_claimed_when_it_is_due,
                the_next_invocation_to_become_due_is_known,
            }
            timers {
                a_timer_fires_once_per_tick,
                a_timer_catches_up_once_after_downtime,
                ticks_coalesce_while_an_earlier_one_waits,
                one_tick_waits_while_another_runs,
                a_claimed_tick_is_the_one_that_waits,
                a_timer_fires_again_after_its_tick_ended,
                several_timers_fire_side_by_side,
                timers_of_sources_that_are_not_active_do_not_fire,
                a_schedule_without_a_next_time_is_never_due,
                an_unchanged_timer_keeps_its_phase_when_settled,
                a_changed_timer_is_rescheduled_when_settled,
                timers_are_unscheduled_while_a_source_is_inactive,
                a_timer_that_was_removed_does_not_fire,
            }
            backlog {
                a_step_copies_a_bounded_number_of_bytes,
                an_emitter_awaits_dispatch_until_its_last_event_is_passed,
                events_beyond_what_may_wait_are_not_queued_and_that_is_said_once,
                a_step_tells_how_far_behind_it_is,
            }
            dispatch {
                each_event_reaches_its_listener_exactly_once_across_reopen,
                a_dispatched_event_has_one_hop_more_and_its_exact_text,
                every_subscription_gets_its_own_invocation,
                a_subscription_matches_its_channel_only,
                the_sources_glob_matches_every_source_of_the_user,
                the_user_glob_matches_every_emitter_of_the_user,
                the_workspace_glob_matches_every_emitter_of_the_workspace,
                subscriptions_of_other_users_are_not_matched,
                members_of_a_workspace_may_listen_to_its_emitters,
                events_before_the_subscription_are_not_matched,
                an_event_with_the_most_hops_reaches_no_source_and_is_an_error,
                the_hop_limit_is_no_error_where_no_event_is_held_back,
                a_webhook_gets_events_with_the_most_hops,
                a_step_may_stop_among_the_listeners_of_an_event,
                a_step_goes_on_behind_an_event_that_is_gone,
                a_webhook_gets_a_delivery_per_event_and_subscription,
                an_inactive_webhook_misses_events,
                a_source_is_not_fed_its_own_errors_and_logs,
                inactive_listeners_miss_events,
                listeners_that_are_updated_or_deployed_get_events,
                what_an_emitter_emitted_last_is_dispatched,
            }
            subscriptions {
                subscribing_is_idempotent,
                subscriptions_differ_in_user_emitter_listener_and_channel,
                unsubscribing_ends_one_subscription,
                an_automatic_subscription_reaches_later_sources_only,
                subscribing_automatically_is_idempotent,
                unsubscribing_automatically_keeps_what_was_made,
                automatic_subscriptions_end_with_their_listener,
                an_automatic_subscription_is_of_its_user_wherever_the_source_lives,
                subscriptions_are_listed_by_workspace,
            }
            sealed {
                every_sealed_record_is_found_once,
                records_are_sealed_anew,
                a_record_that_has_changed_is_not_sealed_anew,
            }
            webhooks {
                a_webhook_reads_back_as_it_was_written,
                webhooks_are_paged_both_ways,
                webhooks_are_listed_by_user_or_workspace,
                webhooks_are_reduced_by_name,
                updating_replaces_what_may_change,
                a_webhook_made_active_again_has_failed_for_no_time,
                a_webhook_at_another_url_has_failed_for_no_time,
                an_update_leaves_what_it_does_not_name,
                a_webhook_is_not_disabled_for_a_former_url,
                deliveries_of_a_webhook_made_inactive_are_dead_letters,
                a_large_backlog_is_given_up_in_bounded_steps,
                a_large_backlog_that_was_given_up_is_made_once_more,
                deleting_a_webhook_removes_everything_of_it,
                a_disabled_webhook_gives_up_what_waits_and_says_so,
                a_webhook_is_disabled_though_the_emitter_is_gone,
            }
            deliveries {
                a_delivery_reads_back_as_it_was_dispatched,
                a_claim_never_hands_out_a_held_delivery,
                claims_of_deliveries_at_the_same_time_share_the_work,
                a_delivery_that_nobody_holds_is_claimable_in_its_place,
                extending_prolongs_held_deliveries_only,
                first_attempts_are_claimed_before_those_that_are_due_again,
                a_claim_ends_at_its_limits,
                a_claim_comes_with_the_webhooks_present_record,
                attempts_are_kept_and_decide_what_becomes_of_a_delivery,
                an_attempt_is_refused_after_a_later_claim,
                an_attempt_is_refused_without_its_lease,
                deliveries_of_a_lost_claim_are_given_back,
                an_attempt_that_outlives_its_lease_counts_if_nobody_took_it,
                a_webhook_knows_since_when_it_fails,
                webhooks_with_work_are_those_with_deliveries_that_nobody_holds,
                all_webhooks_with_work_are_reached_in_steps,
                pending_deliveries_are_never_trimmed,
                trimming_keeps_the_newest_delivered_and_the_youngest_dead,
                trimming_counts_a_retried_delivery_when_it_has_ended,
            }
            redelivery {
                deliveries_are_paged_both_ways,
                a_retried_delivery_begins_anew,
                retrying_a_held_delivery_leaves_it_to_its_holder,
                retrying_is_refused_where_nobody_delivers,
                a_retry_is_found_at_its_time,
                a_webhook_knows_how_far_it_is_behind,
                the_last_attempt_at_each_webhook_is_found,
                a_webhook_waits_no_longer_than_since_a_delivery_was_made_once_more,
                replaying_makes_ended_deliveries_pending_again,
            }
            delivery_search {
                deliveries_of_other_tenants_are_not_found,
                deliveries_of_all_webhooks_are_paged_both_ways,
                deliveries_are_found_by_each_field_of_the_filter,
                deliveries_are_found_by_state_and_result,
                deliveries_are_found_by_the_words_of_their_events,
                those_that_were_chosen_are_changed,
                an_event_that_is_gone_leads_to_its_deliveries,
                a_search_is_bounded_and_goes_on_where_it_stopped,
                counts_are_capped,
                many_are_retried_in_bounded_steps,
                those_of_inactive_webhooks_are_not_retried,
                many_are_discarded_in_bounded_steps,
                a_dry_step_tells_what_would_be_changed,
            }
            discarding {
                an_attempt_of_a_discarded_delivery_is_refused,
                a_discarded_delivery_is_attempted_only_after_a_retry,
                discarded_deliveries_are_kept_as_long_as_dead_ones,
            }
            runs {
                a_run_leaves_one_record_with_its_commit,
                a_record_is_small_whatever_was_thrown,
                runs_are_paged_both_ways,
                runs_are_listed_by_outcome_trigger_start_and_drops,
                a_runs_events_are_found,
                ordinary_events_of_a_run_are_found_alone,
                events_that_an_earlier_part_scheduled_are_found,
                failures_are_kept_apart_from_successes,
                runs_end_with_their_source,
                an_events_deliveries_are_found,
                runs_of_hooks_are_recorded_with_the_settlement,
            }
            source_deployments {
                a_settlement_keeps_what_it_deployed,
                the_newest_deployments_are_kept,
                a_deployment_is_its_sources_alone,
                the_component_of_a_former_deployment_stays,
            }
            names {
                things_are_named_and_those_that_are_gone_are_left_out,
                components_are_told_of_and_those_that_are_gone_are_left_out,
            }
            webhook_health {
                health_has_the_attempts_of_the_newest_deliveries,
                health_says_how_far_it_looked,
            }
            source_health {
                a_source_fails_since_the_first_failure_after_a_success,
                counts_of_runs_that_may_have_been_trimmed_say_so,
                health_has_the_newest_event_and_the_next_tick,
            }
            causes {
                an_event_is_found_by_its_id_on_every_channel,
                an_event_that_is_to_be_deleted_is_not_found,
                an_event_leads_to_the_runs_that_it_caused,
                runs_of_other_tenants_are_not_among_those_of_an_event,
            }
            run_search {
                runs_of_other_tenants_are_not_found,
                runs_of_what_is_being_deleted_are_not_found,
                runs_of_all_sources_are_paged_both_ways,
                runs_are_found_by_each_field_of_the_filter,
                more_open_runs_than_one_search_looks_at_are_paged_both_ways,
                open_runs_of_others_bound_a_search_too,
                a_search_of_runs_is_bounded_and_goes_on_where_it_stopped,
                counts_of_runs_are_capped,
                runs_are_counted_by_the_hour_after_their_records_are_gone,
                runs_of_other_tenants_are_not_counted_by_the_hour,
            }
            scheduled {
                scheduled_events_are_listed_on_in_until_they_are_due,
                scheduled_events_are_released_exactly_once_in_due_order,
                a_released_event_keeps_its_channel_key_and_text,
                listeners_get_a_scheduled_event_when_it_is_released,
                a_deleted_scheduled_event_is_never_released,
                deleting_ordinary_events_cancels_no_scheduled_one,
                scheduled_events_are_never_trimmed,
            }
            deletion {
                deleting_without_ends_deletes_all,
                deleting_from_a_start_includes_it,
                deleting_to_an_end_includes_it,
                deleting_a_range_includes_both_ends,
                deleting_with_equal_ends_deletes_one_event,
                deleting_takes_any_ids_as_ends,
                a_deletion_covers_only_events_that_existed_at_the_request,
                requested_deletions_are_hidden_at_once,
                deleting_a_class_covers_its_channels_and_no_others,
                deleting_a_channel_leaves_its_class,
                deletions_run_in_bounded_steps,
                a_deletion_never_overtakes_dispatch,
                trim_does_not_count_events_of_requested_deletions,
                deletions_of_nothing_do_not_hold_up_others,
                trim_keeps_the_newest_of_each_class,
                trim_never_passes_the_dispatch_cursor,
                trim_does_not_spin_on_what_it_may_not_delete,
                trimming_to_fewer_than_before_deletes_more,
                a_source_is_emptied_in_bounded_steps,
                totals_count_what_is_left,
            }
            event_replay {
                an_event_reaches_each_of_its_listeners_once_more,
                an_event_reaches_one_listener_alone_if_that_is_wanted,
                a_webhook_gets_what_it_missed_once,
                listeners_without_room_are_left_out,
                a_dry_run_tells_who_would_get_an_event,
            }
            event_search {
                parts_of_a_search_pass_every_event_once_newest_first,
                a_search_is_of_its_emitters_channels_and_times,
                words_and_paths_choose_among_the_events_of_a_search,
                a_search_hides_what_is_being_deleted,
                a_part_of_a_search_is_bounded,
            }
            tail {
                every_event_is_read_once_in_the_order_of_appending,
                the_end_of_the_log_is_before_what_is_appended_later,
                scheduled_events_are_read_when_they_are_released,
                requested_deletions_are_not_read,
                what_is_not_shown_does_not_hold_up_the_rest,
                trim_never_passes_the_readers,
                trim_goes_on_when_the_readers_have,
            }
            tenants {
                other_usage_counts_for_both,
                usage_is_told_day_by_day,
                usage_is_told_by_source,
                the_first_user_is_created_once,
                two_first_users_at_the_same_time_become_one,
                a_key_identifies_its_user,
                usernames_are_unique,
                users_are_paged_both_ways,
                a_user_has_several_keys,
                the_last_key_is_not_deleted_by_itself,
                the_use_of_keys_is_noted,
                orgnames_are_unique,
                members_come_and_go,
                workspaces_and_members_are_paged_both_ways,
                the_last_member_stays,
                what_a_member_made_passes_to_another_when_it_leaves,
                subscriptions_within_a_workspace_outlive_the_membership,
                automatic_subscriptions_into_a_workspace_end_with_the_membership,
                a_leaving_members_workflows_are_triggered_as_before,
                a_deleted_user_is_gone_with_what_it_had,
                a_user_with_sources_is_not_deleted,
                a_deleted_user_leaves_its_workspaces,
            }
            sessions {
                a_session_identifies_its_user,
                a_session_ends_in_time_and_when_it_is_idle,
                a_session_ends_with_its_key,
                a_link_signs_in_once,
            }
            event_views {
                a_view_is_written_by_its_name,
                no_view_is_written_beyond_the_bound,
                views_go_with_their_owner,
            }
            audit {
                a_record_reads_back_as_it_was_written,
                a_reader_finds_its_own_acts_and_those_on_what_it_sees,
                records_are_found_by_each_field_of_the_filter,
                audit_records_are_paged_both_ways,
                a_search_of_records_is_bounded_and_goes_on_where_it_stopped,
                records_are_counted_up_to_a_bound,
                an_actor_has_a_bounded_number_of_records,
                old_records_expire_in_steps,
                records_outlast_those_they_tell_of,
            }
            history {
                random_histories_agree_with_the_model,
            }
        }
    };
    (@suite $factory:expr; $($module:ident { $($test:ident,)* })*) => {$(
        mod $module {$(
            #[::tokio::test]
            async fn $test() {
                $crate::conformance::$module::$test(&$factory).await;
            }
        )*}
    )*};
}

#[cfg(test)]
mod tests {
    const SUITE: &str = include_str!("conformance.rs");
    const MODULES: &[(&str, &str)] = &[
        ("accounts", include_str!("conformance/accounts.rs")),
        ("audit", include_str!("conformance/audit.rs")),
        ("backlog", include_str!("conformance/backlog.rs")),
        ("catalog", include_str!("conformance/catalog.rs")),
        ("lists", include_str!("conformance/lists.rs")),
        ("files", include_str!("conformance/files.rs")),
        ("folders", include_str!("conformance/folders.rs")),
        ("registry", include_str!("conformance/registry.rs")),
        ("sources", include_str!("conformance/sources.rs")),
        (
            "source_deployments",
            include_str!("conformance/source_deployments.rs"),
        ),
        ("commits", include_str!("conformance/commits.rs")),
        ("conflicts", include_str!("conformance/conflicts.rs")),
        ("data_stores", include_str!("conformance/data_stores.rs")),
        ("nodes", include_str!("conformance/nodes.rs")),
        ("queue", include_str!("conformance/queue.rs")),
        ("timers", include_str!("conformance/timers.rs")),
        ("dispatch", include_str!("conformance/dispatch.rs")),
        ("event_replay", include_str!("conformance/event_replay.rs")),
        (
            "subscriptions",
            include_str!("conformance/subscriptions.rs"),
        ),
        ("webhooks", include_str!("conformance/webhooks.rs")),
        ("deliveries", include_str!("conformance/deliveries.rs")),
        (
            "delivery_search",
            include_str!("conformance/delivery_search.rs"),
        ),
        ("discarding", include_str!("conformance/discarding.rs")),
        ("redelivery", include_str!("conformance/redelivery.rs")),
        ("causes", include_str!("conformance/causes.rs")),
        ("runs", include_str!("conformance/runs.rs")),
        ("run_search", include_str!("conformance/run_search.rs")),
        ("scheduled", include_str!("conformance/scheduled.rs")),
        ("sealed", include_str!("conformance/sealed.rs")),
        ("deletion", include_str!("conformance/deletion.rs")),
        ("tail", include_str!("conformance/tail.rs")),
        ("tenants", include_str!("conformance/tenants.rs")),
        ("history", include_str!("conformance/history.rs")),
        ("workflows", include_str!("conformance/workflows.rs")),
        ("admission", include_str!("conformance/admission.rs")),
        ("together", include_str!("conformance/together.rs")),
        (
            "workflow_runs",
            include_str!("conformance/workflow_runs.rs"),
        ),
    ];
    const CONTRACT: &[&str] = &[
        include_str!("account.rs"),
        include_str!("audit.rs"),
        include_str!("event_replay.rs"),
        include_str!("catalog.rs"),
        include_str!("key_value.rs"),
        include_str!("nodes.rs"),
        include_str!("runs.rs"),
        include_str!("run_search.rs"),
        include_str!("sealed.rs"),
        include_str!("source_deployments.rs"),
        include_str!("subscriptions.rs"),
        include_str!("upkeep.rs"),
        include_str!("registry.rs"),
        include_str!("file_storage.rs"),
        include_str!("folders.rs"),
        include_str!("data_stores.rs"),
        include_str!("event_log.rs"),
        include_str!("webhooks.rs"),
        include_str!("delivery_search.rs"),
        include_str!("tenants.rs"),
        include_str!("work_queue.rs"),
        include_str!("workflows.rs"),
        include_str!("workflow_runs.rs"),
        include_str!("sends.rs"),
    ];

    fn has_test(module: &str, test: &str) -> bool {
        let code = MODULES.iter().find(|(name, _)| *name == module);
        code.is_some_and(|(_, code)| code.contains(&format!("pub async fn {test}(")))
    }

    #[test]
    fn every_test_is_run_by_the_macro() {
        for (module, code) in MODULES {
            for line in code.lines() {
                let Some(test) = line.strip_prefix("pub async fn ") else {
                    continue;
                };
                let (test, _) = test.split_once('(').unwrap();
                let listed = format!("                {test},\n");
                assert_eq!(SUITE.matches(&listed).count(), 1, "{module}::{test}");
            }
        }
    }

    #[test]
    fn every_must_of_the_contract_names_its_tests() {
        for file in CONTRACT {
            let code: String = file.replace("///", "");
            for must in code.split("MUST").skip(1) {
                let sentence = must.split("MUST").next().unwrap();
                let sentence = sentence.split("async fn").next().unwrap();
                let named = sentence.split("`conformance::").nth(1);
                let named = named.unwrap_or_else(|| panic!("MUST{sentence} names no test"));
                let (module, test) = named.split('`').next().unwrap().split_once("::").unwrap();
                assert!(has_test(module, test), "{module}::{test} is not there");
            }
        }
    }
}
