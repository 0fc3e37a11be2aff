// SPDX-License-Identifier: GPL-2.0
/*
 * More events of ftrace, whose text is their fields: the number, system, name and format of each, as in
 * ftrace_text.c, where the letters are explained. Ascending by number.
 */
#include "ftrace.h"

const struct pf_ftrace_row pf_more_ftrace_rows[] = {
	{ 27, "i2c", "i2c_read", "adapter_nr=%1d msg_nr=%2u addr=%3u flags=%4u len=%5u" },
	{ 28, "i2c", "i2c_write", "adapter_nr=%1d msg_nr=%2u addr=%3u flags=%4u len=%5u" },
	{ 29, "i2c", "i2c_result", "adapter_nr=%1d nr_msgs=%2u ret=%3d" },
	{ 30, "i2c", "i2c_reply", "adapter_nr=%1d msg_nr=%2u addr=%3u flags=%4u len=%5u" },
	{ 31, "i2c", "smbus_read", "adapter_nr=%1d flags=%2u addr=%3u command=%4u protocol=%5u" },
	{ 32, "i2c", "smbus_write", "adapter_nr=%1d addr=%2u flags=%3u command=%4u len=%5u protocol=%6u" },
	{ 33, "i2c", "smbus_result", "adapter_nr=%1d addr=%2u flags=%3u read_write=%4u command=%5u res=%6d "
	  "protocol=%7u" },
	{ 34, "i2c", "smbus_reply", "adapter_nr=%1d addr=%2u flags=%3u command=%4u len=%5u protocol=%6u" },
	{ 35, "lowmemorykiller", "lowmemory_kill", "comm=%1s pid=%2d pagecache_size=%3d pagecache_limit=%4d free=%5d" },
	{ 38, "sync", "sync_pt", "timeline=%1s value=%2s" },
	{ 39, "sync", "sync_timeline", "name=%1s value=%2s" },
	{ 40, "sync", "sync_wait", "name=%1s status=%2d begin=%3u" },
	{ 41, "ext4", "ext4_da_write_begin", "dev=%1D ino=%2u pos=%3d len=%4u flags=%5u" },
	{ 42, "ext4", "ext4_da_write_end", "dev=%1D ino=%2u pos=%3d len=%4u copied=%5u" },
	{ 43, "ext4", "ext4_sync_file_enter", "dev=%1D ino=%2u parent=%3u datasync=%4d" },
	{ 44, "ext4", "ext4_sync_file_exit", "dev=%1D ino=%2u ret=%3d" },
	{ 46, "vmscan", "mm_vmscan_direct_reclaim_begin", "order=%1d may_writepage=%2d gfp_flags=%3u" },
	{ 47, "vmscan", "mm_vmscan_direct_reclaim_end", "nr_reclaimed=%1u" },
	{ 48, "vmscan", "mm_vmscan_kswapd_wake", "nid=%1d order=%2d zid=%3d" },
	{ 49, "vmscan", "mm_vmscan_kswapd_sleep", "nid=%1d" },
	{ 52, "binder", "binder_set_priority", "proc=%1d thread=%2d old_prio=%3u new_prio=%4u desired_prio=%5u" },
	{ 53, "binder", "binder_lock", "tag=%1s" },
	{ 54, "binder", "binder_locked", "tag=%1s" },
	{ 55, "binder", "binder_unlock", "tag=%1s" },
	{ 60, "regulator", "regulator_disable", "name=%1s" },
	{ 61, "regulator", "regulator_disable_complete", "name=%1s" },
	{ 62, "regulator", "regulator_enable", "name=%1s" },
	{ 63, "regulator", "regulator_enable_complete", "name=%1s" },
	{ 64, "regulator", "regulator_enable_delay", "name=%1s" },
	{ 65, "regulator", "regulator_set_voltage", "name=%1s min=%2d max=%3d" },
	{ 66, "regulator", "regulator_set_voltage_complete", "name=%1s val=%2u" },
	{ 67, "cgroup", "cgroup_attach_task", "dst_root=%1d dst_id=%2d pid=%3d comm=%4s cname=%5s dst_level=%6d "
	  "dst_path=%7s" },
	{ 68, "cgroup", "cgroup_mkdir", "root=%1d id=%2d cname=%3s level=%4d path=%5s" },
	{ 69, "cgroup", "cgroup_remount", "root=%1d ss_mask=%2u name=%3s" },
	{ 70, "cgroup", "cgroup_rmdir", "root=%1d id=%2d cname=%3s level=%4d path=%5s" },
	{ 71, "cgroup", "cgroup_transfer_tasks", "dst_root=%1d dst_id=%2d pid=%3d comm=%4s cname=%5s dst_level=%6d "
	  "dst_path=%7s" },
	{ 72, "cgroup", "cgroup_destroy_root", "root=%1d ss_mask=%2u name=%3s" },
	{ 73, "cgroup", "cgroup_release", "root=%1d id=%2d cname=%3s level=%4d path=%5s" },
	{ 74, "cgroup", "cgroup_rename", "root=%1d id=%2d cname=%3s level=%4d path=%5s" },
	{ 75, "cgroup", "cgroup_setup_root", "root=%1d ss_mask=%2u name=%3s" },
	{ 76, "mdss", "mdp_cmd_kickoff", "ctl_num=%1u kickoff_cnt=%2d" },
	{ 77, "mdss", "mdp_commit", "num=%1u play_cnt=%2u clk_rate=%3u bandwidth=%4u" },
	{ 78, "mdss", "mdp_perf_set_ot", "pnum=%1u xin_id=%2u rd_lim=%3u is_vbif_rt=%4u" },
	{ 79, "mdss", "mdp_sspp_change", "num=%1u play_cnt=%2u mixer=%3u stage=%4u flags=%5u format=%6u img_w=%7u "
	  "img_h=%8u src_x=%9u src_y=%10u src_w=%11u src_h=%12u dst_x=%13u dst_y=%14u dst_w=%15u dst_h=%16u" },
	{ 81, "mdss", "mdp_cmd_pingpong_done", "ctl_num=%1u intf_num=%2u pp_num=%3u koff_cnt=%4d" },
	{ 82, "mdss", "mdp_compare_bw", "new_ab=%1u new_ib=%2u new_wb=%3u old_ab=%4u old_ib=%5u old_wb=%6u "
	  "params_changed=%7u update_bw=%8u" },
	{ 83, "mdss", "mdp_perf_set_panic_luts", "pnum=%1u fmt=%2u mode=%3u panic_lut=%4u robust_lut=%5u" },
	{ 84, "mdss", "mdp_sspp_set", "num=%1u play_cnt=%2u mixer=%3u stage=%4u flags=%5u format=%6u img_w=%7u "
	  "img_h=%8u src_x=%9u src_y=%10u src_w=%11u src_h=%12u dst_x=%13u dst_y=%14u dst_w=%15u dst_h=%16u" },
	{ 85, "mdss", "mdp_cmd_readptr_done", "ctl_num=%1u koff_cnt=%2d" },
	{ 86, "mdss", "mdp_misr_crc", "block_id=%1u vsync_cnt=%2u crc=%3u" },
	{ 87, "mdss", "mdp_perf_set_qos_luts", "pnum=%1u fmt=%2u intf=%3u rot=%4u fl=%5u lut=%6u linear=%7u" },
	{ 88, "mdss", "mdp_trace_counter", "pid=%1d counter_name=%2s value=%3d" },
	{ 89, "mdss", "mdp_cmd_release_bw", "ctl_num=%1u" },
	{ 90, "mdss", "mdp_mixer_update", "mixer_num=%1u" },
	{ 91, "mdss", "mdp_perf_set_wm_levels", "pnum=%1u use_space=%2u priority_bytes=%3u wm0=%4u wm1=%5u wm2=%6u "
	  "mb_cnt=%7u mb_size=%8u" },
	{ 92, "mdss", "mdp_video_underrun_done", "ctl_num=%1u underrun_cnt=%2u" },
	{ 93, "mdss", "mdp_cmd_wait_pingpong", "ctl_num=%1u kickoff_cnt=%2d" },
	{ 94, "mdss", "mdp_perf_prefill_calc", "pnum=%1u latency_buf=%2u ot=%3u y_buf=%4u y_scaler=%5u pp_lines=%6u "
	  "pp_bytes=%7u post_sc=%8u fbc_bytes=%9u prefill_bytes=%10u" },
	{ 95, "mdss", "mdp_perf_update_bus", "client=%1d ab_quota=%2u ib_quota=%3u" },
	{ 96, "mdss", "rotator_bw_ao_as_context", "state=%1u" },
	{ 97, "filemap", "mm_filemap_add_to_page_cache", "pfn=%1u i_ino=%2u index=%3u s_dev=%4D page=%5u" },
	{ 98, "filemap", "mm_filemap_delete_from_page_cache", "pfn=%1u i_ino=%2u index=%3u s_dev=%4D page=%5u" },
	{ 99, "compaction", "mm_compaction_begin", "zone_start=%1u migrate_pfn=%2u free_pfn=%3u zone_end=%4u "
	  "sync=%5u" },
	{ 100, "compaction", "mm_compaction_defer_compaction", "nid=%1d idx=%2u order=%3d considered=%4u "
	  "defer_shift=%5u order_failed=%6d" },
	{ 101, "compaction", "mm_compaction_deferred", "nid=%1d idx=%2u order=%3d considered=%4u defer_shift=%5u "
	  "order_failed=%6d" },
	{ 102, "compaction", "mm_compaction_defer_reset", "nid=%1d idx=%2u order=%3d considered=%4u defer_shift=%5u "
	  "order_failed=%6d" },
	{ 103, "compaction", "mm_compaction_end", "zone_start=%1u migrate_pfn=%2u free_pfn=%3u zone_end=%4u sync=%5u "
	  "status=%6d" },
	{ 104, "compaction", "mm_compaction_finished", "nid=%1d idx=%2u order=%3d ret=%4d" },
	{ 105, "compaction", "mm_compaction_isolate_freepages", "start_pfn=%1u end_pfn=%2u nr_scanned=%3u "
	  "nr_taken=%4u" },
	{ 106, "compaction", "mm_compaction_isolate_migratepages", "start_pfn=%1u end_pfn=%2u nr_scanned=%3u "
	  "nr_taken=%4u" },
	{ 107, "compaction", "mm_compaction_kcompactd_sleep", "nid=%1d" },
	{ 108, "compaction", "mm_compaction_kcompactd_wake", "nid=%1d order=%2d classzone_idx=%3u "
	  "highest_zoneidx=%4u" },
	{ 109, "compaction", "mm_compaction_migratepages", "nr_migrated=%1u nr_failed=%2u" },
	{ 110, "compaction", "mm_compaction_suitable", "nid=%1d idx=%2u order=%3d ret=%4d" },
	{ 111, "compaction", "mm_compaction_try_to_compact_pages", "order=%1d gfp_mask=%2u mode=%3u prio=%4d" },
	{ 112, "compaction", "mm_compaction_wakeup_kcompactd", "nid=%1d order=%2d classzone_idx=%3u "
	  "highest_zoneidx=%4u" },
	{ 115, "block", "block_bio_backmerge", "dev=%1D sector=%2u nr_sector=%3u rwbs=%4s comm=%5s" },
	{ 116, "block", "block_bio_bounce", "dev=%1D sector=%2u nr_sector=%3u rwbs=%4s comm=%5s" },
	{ 118, "block", "block_bio_frontmerge", "dev=%1D sector=%2u nr_sector=%3u rwbs=%4s comm=%5s" },
	{ 121, "block", "block_dirty_buffer", "dev=%1D sector=%2u size=%3u" },
	{ 122, "block", "block_getrq", "dev=%1D sector=%2u nr_sector=%3u rwbs=%4s comm=%5s" },
	{ 123, "block", "block_plug", "comm=%1s" },
	{ 124, "block", "block_rq_abort", "dev=%1D sector=%2u nr_sector=%3u errors=%4d rwbs=%5s cmd=%6s" },
	{ 128, "block", "block_rq_remap", "dev=%1D sector=%2u nr_sector=%3u old_dev=%4D old_sector=%5u nr_bios=%6u "
	  "rwbs=%7s" },
	{ 129, "block", "block_rq_requeue", "dev=%1D sector=%2u nr_sector=%3u errors=%4d rwbs=%5s cmd=%6s" },
	{ 130, "block", "block_sleeprq", "dev=%1D sector=%2u nr_sector=%3u rwbs=%4s comm=%5s" },
	{ 131, "block", "block_split", "dev=%1D sector=%2u new_sector=%3u rwbs=%4s comm=%5s" },
	{ 132, "block", "block_touch_buffer", "dev=%1D sector=%2u size=%3u" },
	{ 133, "block", "block_unplug", "nr_rq=%1d comm=%2s" },
	{ 134, "ext4", "ext4_alloc_da_blocks", "dev=%1D ino=%2u data_blocks=%3u meta_blocks=%4u" },
	{ 135, "ext4", "ext4_allocate_blocks", "dev=%1D ino=%2u block=%3u len=%4u logical=%5u lleft=%6u lright=%7u "
	  "goal=%8u pleft=%9u pright=%10u flags=%11u" },
	{ 136, "ext4", "ext4_allocate_inode", "dev=%1D ino=%2u dir=%3u mode=%4u" },
	{ 137, "ext4", "ext4_begin_ordered_truncate", "dev=%1D ino=%2u new_size=%3d" },
	{ 138, "ext4", "ext4_collapse_range", "dev=%1D ino=%2u offset=%3d len=%4d" },
	{ 139, "ext4", "ext4_da_release_space", "dev=%1D ino=%2u i_blocks=%3u freed_blocks=%4d "
	  "reserved_data_blocks=%5d reserved_meta_blocks=%6d allocated_meta_blocks=%7d mode=%8u" },
	{ 140, "ext4", "ext4_da_reserve_space", "dev=%1D ino=%2u i_blocks=%3u reserved_data_blocks=%4d "
	  "reserved_meta_blocks=%5d mode=%6u md_needed=%7d" },
	{ 141, "ext4", "ext4_da_update_reserve_space", "dev=%1D ino=%2u i_blocks=%3u used_blocks=%4d "
	  "reserved_data_blocks=%5d reserved_meta_blocks=%6d allocated_meta_blocks=%7d quota_claim=%8d mode=%9u" },
	{ 142, "ext4", "ext4_da_write_pages", "dev=%1D ino=%2u first_page=%3u nr_to_write=%4d sync_mode=%5d "
	  "b_blocknr=%6u b_size=%7u b_state=%8u io_done=%9d pages_written=%10d" },
	{ 143, "ext4", "ext4_da_write_pages_extent", "dev=%1D ino=%2u lblk=%3u len=%4u flags=%5u" },
	{ 144, "ext4", "ext4_direct_IO_enter", "dev=%1D ino=%2u pos=%3d len=%4u rw=%5d" },
	{ 145, "ext4", "ext4_direct_IO_exit", "dev=%1D ino=%2u pos=%3d len=%4u rw=%5d ret=%6d" },
	{ 146, "ext4", "ext4_discard_blocks", "dev=%1D blk=%2u count=%3u" },
	{ 147, "ext4", "ext4_discard_preallocations", "dev=%1D ino=%2u len=%3u needed=%4u" },
	{ 148, "ext4", "ext4_drop_inode", "dev=%1D ino=%2u drop=%3d" },
	{ 149, "ext4", "ext4_es_cache_extent", "dev=%1D ino=%2u lblk=%3u len=%4u pblk=%5u status=%6u" },
	{ 150, "ext4", "ext4_es_find_delayed_extent_range_enter", "dev=%1D ino=%2u lblk=%3u" },
	{ 151, "ext4", "ext4_es_find_delayed_extent_range_exit", "dev=%1D ino=%2u lblk=%3u len=%4u pblk=%5u "
	  "status=%6u" },
	{ 152, "ext4", "ext4_es_insert_extent", "dev=%1D ino=%2u lblk=%3u len=%4u pblk=%5u status=%6u" },
	{ 153, "ext4", "ext4_es_lookup_extent_enter", "dev=%1D ino=%2u lblk=%3u" },
	{ 154, "ext4", "ext4_es_lookup_extent_exit", "dev=%1D ino=%2u lblk=%3u len=%4u pblk=%5u status=%6u found=%7d" },
	{ 155, "ext4", "ext4_es_remove_extent", "dev=%1D ino=%2u lblk=%3d len=%4d" },
	{ 156, "ext4", "ext4_es_shrink", "dev=%1D nr_shrunk=%2d scan_time=%3u nr_skipped=%4d retried=%5d" },
	{ 157, "ext4", "ext4_es_shrink_count", "dev=%1D nr_to_scan=%2d cache_cnt=%3d" },
	{ 158, "ext4", "ext4_es_shrink_scan_enter", "dev=%1D nr_to_scan=%2d cache_cnt=%3d" },
	{ 159, "ext4", "ext4_es_shrink_scan_exit", "dev=%1D nr_shrunk=%2d cache_cnt=%3d" },
	{ 160, "ext4", "ext4_evict_inode", "dev=%1D ino=%2u nlink=%3d" },
	{ 161, "ext4", "ext4_ext_convert_to_initialized_enter", "dev=%1D ino=%2u m_lblk=%3u m_len=%4u u_lblk=%5u "
	  "u_len=%6u u_pblk=%7u" },
	{ 162, "ext4", "ext4_ext_convert_to_initialized_fastpath", "dev=%1D ino=%2u m_lblk=%3u m_len=%4u u_lblk=%5u "
	  "u_len=%6u u_pblk=%7u i_lblk=%8u i_len=%9u i_pblk=%10u" },
	{ 163, "ext4", "ext4_ext_handle_unwritten_extents", "dev=%1D ino=%2u flags=%3d lblk=%4u pblk=%5u len=%6u "
	  "allocated=%7u newblk=%8u" },
	{ 164, "ext4", "ext4_ext_in_cache", "dev=%1D ino=%2u lblk=%3u ret=%4d" },
	{ 165, "ext4", "ext4_ext_load_extent", "dev=%1D ino=%2u pblk=%3u lblk=%4u" },
	{ 166, "ext4", "ext4_ext_map_blocks_enter", "dev=%1D ino=%2u lblk=%3u len=%4u flags=%5u" },
	{ 167, "ext4", "ext4_ext_map_blocks_exit", "dev=%1D ino=%2u flags=%3u pblk=%4u lblk=%5u len=%6u mflags=%7u "
	  "ret=%8d" },
	{ 168, "ext4", "ext4_ext_put_in_cache", "dev=%1D ino=%2u lblk=%3u len=%4u start=%5u" },
	{ 169, "ext4", "ext4_ext_remove_space", "dev=%1D ino=%2u start=%3u end=%4u depth=%5d" },
	{ 170, "ext4", "ext4_ext_remove_space_done", "dev=%1D ino=%2u start=%3u end=%4u depth=%5d partial=%6d "
	  "eh_entries=%7u pc_lblk=%8u pc_pclu=%9u pc_state=%10d" },
	{ 171, "ext4", "ext4_ext_rm_idx", "dev=%1D ino=%2u pblk=%3u" },
	{ 172, "ext4", "ext4_ext_rm_leaf", "dev=%1D ino=%2u partial=%3d start=%4u ee_lblk=%5u ee_pblk=%6u ee_len=%7d "
	  "pc_lblk=%8u pc_pclu=%9u pc_state=%10d" },
	{ 173, "ext4", "ext4_ext_show_extent", "dev=%1D ino=%2u pblk=%3u lblk=%4u len=%5u" },
	{ 174, "ext4", "ext4_fallocate_enter", "dev=%1D ino=%2u offset=%3d len=%4d mode=%5d pos=%6d" },
	{ 175, "ext4", "ext4_fallocate_exit", "dev=%1D ino=%2u pos=%3d blocks=%4u ret=%5d" },
	{ 176, "ext4", "ext4_find_delalloc_range", "dev=%1D ino=%2u from=%3u to=%4u reverse=%5d found=%6d "
	  "found_blk=%7u" },
	{ 177, "ext4", "ext4_forget", "dev=%1D ino=%2u block=%3u is_metadata=%4d mode=%5u" },
	{ 178, "ext4", "ext4_free_blocks", "dev=%1D ino=%2u block=%3u count=%4u flags=%5d mode=%6u" },
	{ 179, "ext4", "ext4_free_inode", "dev=%1D ino=%2u uid=%3u gid=%4u blocks=%5u mode=%6u" },
	{ 180, "ext4", "ext4_get_implied_cluster_alloc_exit", "dev=%1D flags=%2u lblk=%3u pblk=%4u len=%5u ret=%6d" },
	{ 181, "ext4", "ext4_get_reserved_cluster_alloc", "dev=%1D ino=%2u lblk=%3u len=%4u" },
	{ 182, "ext4", "ext4_ind_map_blocks_enter", "dev=%1D ino=%2u lblk=%3u len=%4u flags=%5u" },
	{ 183, "ext4", "ext4_ind_map_blocks_exit", "dev=%1D ino=%2u flags=%3u pblk=%4u lblk=%5u len=%6u mflags=%7u "
	  "ret=%8d" },
	{ 184, "ext4", "ext4_insert_range", "dev=%1D ino=%2u offset=%3d len=%4d" },
	{ 185, "ext4", "ext4_invalidatepage", "dev=%1D ino=%2u index=%3u offset=%4u length=%5u" },
	{ 186, "ext4", "ext4_journal_start", "dev=%1D ip=%2u blocks=%3d rsv_blocks=%4d nblocks=%5d revoke_creds=%6d" },
	{ 187, "ext4", "ext4_journal_start_reserved", "dev=%1D ip=%2u blocks=%3d" },
	{ 188, "ext4", "ext4_journalled_invalidatepage", "dev=%1D ino=%2u index=%3u offset=%4u length=%5u" },
	{ 189, "ext4", "ext4_journalled_write_end", "dev=%1D ino=%2u pos=%3d len=%4u copied=%5u" },
	{ 190, "ext4", "ext4_load_inode", "dev=%1D ino=%2u" },
	{ 191, "ext4", "ext4_load_inode_bitmap", "dev=%1D group=%2u" },
	{ 192, "ext4", "ext4_mark_inode_dirty", "dev=%1D ino=%2u ip=%3u" },
	{ 193, "ext4", "ext4_mb_bitmap_load", "dev=%1D group=%2u" },
	{ 194, "ext4", "ext4_mb_buddy_bitmap_load", "dev=%1D group=%2u" },
	{ 195, "ext4", "ext4_mb_discard_preallocations", "dev=%1D needed=%2d" },
	{ 196, "ext4", "ext4_mb_new_group_pa", "dev=%1D ino=%2u pa_pstart=%3u pa_lstart=%4u pa_len=%5u" },
	{ 197, "ext4", "ext4_mb_new_inode_pa", "dev=%1D ino=%2u pa_pstart=%3u pa_lstart=%4u pa_len=%5u" },
	{ 198, "ext4", "ext4_mb_release_group_pa", "dev=%1D pa_pstart=%2u pa_len=%3u" },
	{ 199, "ext4", "ext4_mb_release_inode_pa", "dev=%1D ino=%2u block=%3u count=%4u" },
	{ 200, "ext4", "ext4_mballoc_alloc", "dev=%1D ino=%2u orig_logical=%3u orig_start=%4d orig_group=%5u "
	  "orig_len=%6d goal_logical=%7u goal_start=%8d goal_group=%9u goal_len=%10d result_logical=%11u "
	  "result_start=%12d result_group=%13u result_len=%14d found=%15u groups=%16u buddy=%17u flags=%18u "
	  "tail=%19u cr=%20u" },
	{ 201, "ext4", "ext4_mballoc_discard", "dev=%1D ino=%2u result_start=%3d result_group=%4u result_len=%5d" },
	{ 202, "ext4", "ext4_mballoc_free", "dev=%1D ino=%2u result_start=%3d result_group=%4u result_len=%5d" },
	{ 203, "ext4", "ext4_mballoc_prealloc", "dev=%1D ino=%2u orig_logical=%3u orig_start=%4d orig_group=%5u "
	  "orig_len=%6d result_logical=%7u result_start=%8d result_group=%9u result_len=%10d" },
	{ 204, "ext4", "ext4_other_inode_update_time", "dev=%1D ino=%2u orig_ino=%3u uid=%4u gid=%5u mode=%6u" },
	{ 205, "ext4", "ext4_punch_hole", "dev=%1D ino=%2u offset=%3d len=%4d mode=%5d" },
	{ 206, "ext4", "ext4_read_block_bitmap_load", "dev=%1D group=%2u prefetch=%3u" },
	{ 207, "ext4", "ext4_readpage", "dev=%1D ino=%2u index=%3u" },
	{ 208, "ext4", "ext4_releasepage", "dev=%1D ino=%2u index=%3u" },
	{ 209, "ext4", "ext4_remove_blocks", "dev=%1D ino=%2u from=%3u to=%4u partial=%5d ee_pblk=%6u ee_lblk=%7u "
	  "ee_len=%8u pc_lblk=%9u pc_pclu=%10u pc_state=%11d" },
	{ 210, "ext4", "ext4_request_blocks", "dev=%1D ino=%2u len=%3u logical=%4u lleft=%5u lright=%6u goal=%7u "
	  "pleft=%8u pright=%9u flags=%10u" },
	{ 211, "ext4", "ext4_request_inode", "dev=%1D dir=%2u mode=%3u" },
	{ 212, "ext4", "ext4_sync_fs", "dev=%1D wait=%2d" },
	{ 213, "ext4", "ext4_trim_all_free", "dev_major=%1d dev_minor=%2d group=%3u start=%4d len=%5d" },
	{ 214, "ext4", "ext4_trim_extent", "dev_major=%1d dev_minor=%2d group=%3u start=%4d len=%5d" },
	{ 215, "ext4", "ext4_truncate_enter", "dev=%1D ino=%2u blocks=%3u" },
	{ 216, "ext4", "ext4_truncate_exit", "dev=%1D ino=%2u blocks=%3u" },
	{ 217, "ext4", "ext4_unlink_enter", "dev=%1D ino=%2u parent=%3u size=%4d" },
	{ 218, "ext4", "ext4_unlink_exit", "dev=%1D ino=%2u ret=%3d" },
	{ 219, "ext4", "ext4_write_begin", "dev=%1D ino=%2u pos=%3d len=%4u flags=%5u" },
	{ 230, "ext4", "ext4_write_end", "dev=%1D ino=%2u pos=%3d len=%4u copied=%5u" },
	{ 231, "ext4", "ext4_writepage", "dev=%1D ino=%2u index=%3u" },
	{ 232, "ext4", "ext4_writepages", "dev=%1D ino=%2u nr_to_write=%3d pages_skipped=%4d range_start=%5d "
	  "range_end=%6d writeback_index=%7u sync_mode=%8d for_kupdate=%9u range_cyclic=%10u" },
	{ 233, "ext4", "ext4_writepages_result", "dev=%1D ino=%2u ret=%3d pages_written=%4d pages_skipped=%5d "
	  "writeback_index=%6u sync_mode=%7d" },
	{ 234, "ext4", "ext4_zero_range", "dev=%1D ino=%2u offset=%3d len=%4d mode=%5d" },
	{ 243, "f2fs", "f2fs_do_submit_bio", "dev=%1D btype=%2d sync=%3u sector=%4u size=%5u" },
	{ 244, "f2fs", "f2fs_evict_inode", "dev=%1D ino=%2u pino=%3u mode=%4u size=%5d nlink=%6u blocks=%7u "
	  "advise=%8u" },
	{ 245, "f2fs", "f2fs_fallocate", "dev=%1D ino=%2u mode=%3d offset=%4d len=%5d size=%6d blocks=%7u ret=%8d" },
	{ 246, "f2fs", "f2fs_get_data_block", "dev=%1D ino=%2u iblock=%3u bh_start=%4u bh_size=%5u ret=%6d" },
	{ 247, "f2fs", "f2fs_get_victim", "dev=%1D type=%2d gc_type=%3d alloc_mode=%4d gc_mode=%5d victim=%6u "
	  "ofs_unit=%7u pre_victim=%8u prefree=%9u free=%10u cost=%11u" },
	{ 248, "f2fs", "f2fs_iget", "dev=%1D ino=%2u pino=%3u mode=%4u size=%5d nlink=%6u blocks=%7u advise=%8u" },
	{ 249, "f2fs", "f2fs_iget_exit", "dev=%1D ino=%2u ret=%3d" },
	{ 250, "f2fs", "f2fs_new_inode", "dev=%1D ino=%2u ret=%3d" },
	{ 251, "f2fs", "f2fs_readpage", "dev=%1D ino=%2u index=%3u blkaddr=%4u type=%5d dir=%6d dirty=%7d "
	  "uptodate=%8d" },
	{ 252, "f2fs", "f2fs_reserve_new_block", "dev=%1D nid=%2u ofs_in_node=%3u" },
	{ 253, "f2fs", "f2fs_set_page_dirty", "dev=%1D ino=%2u type=%3d dir=%4d index=%5u dirty=%6d uptodate=%7d" },
	{ 254, "f2fs", "f2fs_submit_write_page", "dev=%1D ino=%2u type=%3d index=%4u block=%5u" },
	{ 255, "f2fs", "f2fs_sync_file_enter", "dev=%1D ino=%2u pino=%3u mode=%4u size=%5d nlink=%6u blocks=%7u "
	  "advise=%8u" },
	{ 256, "f2fs", "f2fs_sync_file_exit", "dev=%1D ino=%2u need_cp=%3u datasync=%4d ret=%5d cp_reason=%6d" },
	{ 257, "f2fs", "f2fs_sync_fs", "dev=%1D dirty=%2d wait=%3d" },
	{ 258, "f2fs", "f2fs_truncate", "dev=%1D ino=%2u pino=%3u mode=%4u size=%5d nlink=%6u blocks=%7u advise=%8u" },
	{ 259, "f2fs", "f2fs_truncate_blocks_enter", "dev=%1D ino=%2u size=%3d blocks=%4u from=%5u" },
	{ 260, "f2fs", "f2fs_truncate_blocks_exit", "dev=%1D ino=%2u ret=%3d" },
	{ 261, "f2fs", "f2fs_truncate_data_blocks_range", "dev=%1D ino=%2u nid=%3u ofs=%4u free=%5d" },
	{ 262, "f2fs", "f2fs_truncate_inode_blocks_enter", "dev=%1D ino=%2u size=%3d blocks=%4u from=%5u" },
	{ 263, "f2fs", "f2fs_truncate_inode_blocks_exit", "dev=%1D ino=%2u ret=%3d" },
	{ 264, "f2fs", "f2fs_truncate_node", "dev=%1D ino=%2u nid=%3u blk_addr=%4u" },
	{ 265, "f2fs", "f2fs_truncate_nodes_enter", "dev=%1D ino=%2u nid=%3u blk_addr=%4u" },
	{ 266, "f2fs", "f2fs_truncate_nodes_exit", "dev=%1D ino=%2u ret=%3d" },
	{ 267, "f2fs", "f2fs_truncate_partial_nodes", "dev=%1D ino=%2u nid=%3u depth=%4d err=%5d" },
	{ 268, "f2fs", "f2fs_unlink_enter", "dev=%1D ino=%2u size=%3d blocks=%4u name=%5s" },
	{ 269, "f2fs", "f2fs_unlink_exit", "dev=%1D ino=%2u ret=%3d" },
	{ 270, "f2fs", "f2fs_vm_page_mkwrite", "dev=%1D ino=%2u type=%3d dir=%4d index=%5u dirty=%6d uptodate=%7d" },
	{ 271, "f2fs", "f2fs_write_begin", "dev=%1D ino=%2u pos=%3d len=%4u flags=%5u" },
	{ 272, "f2fs", "f2fs_write_checkpoint", "dev=%1D is_umount=%2u msg=%3s reason=%4d phase=%5u" },
	{ 273, "f2fs", "f2fs_write_end", "dev=%1D ino=%2u pos=%3d len=%4u copied=%5u" },
	{ 274, "kmem", "alloc_pages_iommu_end", "gfp_flags=%1u order=%2u" },
	{ 275, "kmem", "alloc_pages_iommu_fail", "gfp_flags=%1u order=%2u" },
	{ 276, "kmem", "alloc_pages_iommu_start", "gfp_flags=%1u order=%2u" },
	{ 277, "kmem", "alloc_pages_sys_end", "gfp_flags=%1u order=%2u" },
	{ 278, "kmem", "alloc_pages_sys_fail", "gfp_flags=%1u order=%2u" },
	{ 279, "kmem", "alloc_pages_sys_start", "gfp_flags=%1u order=%2u" },
	{ 280, "kmem", "dma_alloc_contiguous_retry", "tries=%1d" },
	{ 281, "kmem", "iommu_map_range", "chunk_size=%1u len=%2u pa=%3u va=%4u" },
	{ 282, "kmem", "iommu_sec_ptbl_map_range_end", "len=%1u num=%2d pa=%3u sec_id=%4d va=%5u" },
	{ 283, "kmem", "iommu_sec_ptbl_map_range_start", "len=%1u num=%2d pa=%3u sec_id=%4d va=%5u" },
	{ 284, "kmem", "ion_alloc_buffer_end", "client_name=%1s flags=%2u heap_name=%3s len=%4u mask=%5u" },
	{ 285, "kmem", "ion_alloc_buffer_fail", "client_name=%1s error=%2d flags=%3u heap_name=%4s len=%5u mask=%6u" },
	{ 286, "kmem", "ion_alloc_buffer_fallback", "client_name=%1s error=%2d flags=%3u heap_name=%4s len=%5u "
	  "mask=%6u" },
	{ 287, "kmem", "ion_alloc_buffer_start", "client_name=%1s flags=%2u heap_name=%3s len=%4u mask=%5u" },
	{ 288, "kmem", "ion_cp_alloc_retry", "tries=%1d" },
	{ 289, "kmem", "ion_cp_secure_buffer_end", "align=%1u flags=%2u heap_name=%3s len=%4u" },
	{ 290, "kmem", "ion_cp_secure_buffer_start", "align=%1u flags=%2u heap_name=%3s len=%4u" },
	{ 291, "kmem", "ion_prefetching", "len=%1u" },
	{ 292, "kmem", "ion_secure_cma_add_to_pool_end", "is_prefetch=%1u len=%2u pool_total=%3d" },
	{ 293, "kmem", "ion_secure_cma_add_to_pool_start", "is_prefetch=%1u len=%2u pool_total=%3d" },
	{ 294, "kmem", "ion_secure_cma_allocate_end", "align=%1u flags=%2u heap_name=%3s len=%4u" },
	{ 295, "kmem", "ion_secure_cma_allocate_start", "align=%1u flags=%2u heap_name=%3s len=%4u" },
	{ 296, "kmem", "ion_secure_cma_shrink_pool_end", "drained_size=%1u skipped_size=%2u" },
	{ 297, "kmem", "ion_secure_cma_shrink_pool_start", "drained_size=%1u skipped_size=%2u" },
	{ 298, "kmem", "kfree", "call_site=%1u ptr=%2u" },
	{ 299, "kmem", "kmalloc", "bytes_alloc=%1u bytes_req=%2u call_site=%3u gfp_flags=%4u ptr=%5u" },
	{ 300, "kmem", "kmalloc_node", "bytes_alloc=%1u bytes_req=%2u call_site=%3u gfp_flags=%4u node=%5d ptr=%6u" },
	{ 301, "kmem", "kmem_cache_alloc", "bytes_alloc=%1u bytes_req=%2u call_site=%3u gfp_flags=%4u ptr=%5u" },
	{ 302, "kmem", "kmem_cache_alloc_node", "bytes_alloc=%1u bytes_req=%2u call_site=%3u gfp_flags=%4u node=%5d "
	  "ptr=%6u" },
	{ 303, "kmem", "kmem_cache_free", "call_site=%1u ptr=%2u" },
	{ 304, "kmem", "migrate_pages_end", "mode=%1d" },
	{ 305, "kmem", "migrate_pages_start", "mode=%1d" },
	{ 306, "kmem", "migrate_retry", "tries=%1d" },
	{ 307, "kmem", "mm_page_alloc", "gfp_flags=%1u migratetype=%2d order=%3u page=%4u pfn=%5u" },
	{ 308, "kmem", "mm_page_alloc_extfrag", "alloc_migratetype=%1d alloc_order=%2d fallback_migratetype=%3d "
	  "fallback_order=%4d page=%5u change_ownership=%6d pfn=%7u" },
	{ 309, "kmem", "mm_page_alloc_zone_locked", "migratetype=%1d order=%2u page=%3u pfn=%4u" },
	{ 310, "kmem", "mm_page_free", "order=%1u page=%2u pfn=%3u" },
	{ 311, "kmem", "mm_page_free_batched", "cold=%1d page=%2u pfn=%3u" },
	{ 312, "kmem", "mm_page_pcpu_drain", "migratetype=%1d order=%2u page=%3u pfn=%4u" },
	{ 313, "kmem", "rss_stat", "%4omm_id=%4u %3ocurr=%3u type=%1m size=%2dB" },
	{ 314, "kmem", "ion_heap_shrink", "heap_name=%1s len=%2u total_allocated=%3d" },
	{ 315, "kmem", "ion_heap_grow", "heap_name=%1s len=%2u total_allocated=%3d" },
	{ 316, "fence", "fence_init", "context=%1u driver=%2s seqno=%3u timeline=%4s" },
	{ 317, "fence", "fence_destroy", "context=%1u driver=%2s seqno=%3u timeline=%4s" },
	{ 318, "fence", "fence_enable_signal", "context=%1u driver=%2s seqno=%3u timeline=%4s" },
	{ 319, "fence", "fence_signaled", "context=%1u driver=%2s seqno=%3u timeline=%4s" },
	{ 323, "binder", "binder_transaction_alloc_buf", "data_size=%1u debug_id=%2d offsets_size=%3u "
	  "extra_buffers_size=%4u" },
	{ 328, "mm_event", "mm_event_record", "avg_lat=%1u count=%2u max_lat=%3u type=%4u" },
	{ 335, "ion", "ion_stat", "buffer_id=%1u len=%2d total_allocated=%3u" },
	{ 336, "kmem", "ion_buffer_create", "addr=%1u len=%2u" },
	{ 337, "kmem", "ion_buffer_destroy", "addr=%1u len=%2u" },
	{ 338, "scm", "scm_call_start", "arginfo=%1u x0=%2u x5=%3u" },
	{ 339, "scm", "scm_call_end", "" },
	{ 340, "gpu_mem", "gpu_mem_total", "gpu_id=%1u pid=%2u size=%3u" },
	{ 341, "thermal", "thermal_temperature", "thermal_zone=%4s id=%1d temp_prev=%3d temp=%2d" },
	{ 342, "thermal", "cdev_update", "target=%1u type=%2s" },
	{ 343, "cpuhp", "cpuhp_exit", "cpu=%1u idx=%2d ret=%3d state=%4d" },
	{ 344, "cpuhp", "cpuhp_multi_enter", "cpu=%1u fun=%2u idx=%3d target=%4d" },
	{ 345, "cpuhp", "cpuhp_enter", "cpu=%1u fun=%2u idx=%3d target=%4d" },
	{ 346, "cpuhp", "cpuhp_latency", "cpu=%1u ret=%2d state=%3u time=%4u" },
	{ 347, "fastrpc", "fastrpc_dma_stat", "cid=%1d len=%2d total_allocated=%3u" },
	{ 351, "dmabuf_heap", "dma_heap_stat", "inode=%1u len=%2d total_allocated=%3u" },
	{ 352, "cpuhp", "cpuhp_pause", "active_cpus=%1u cpus=%2u pause=%3u time=%4u" },
	{ 354, "sde", "sde_evtlog", "evtlog_tag=%1s pid=%2d tag_id=%3u d00=%4u d01=%5u d02=%6u d03=%7u d04=%8u "
	  "d05=%9u d06=%10u d07=%11u d08=%12u d09=%13u d10=%14u d11=%15u d12=%16u d13=%17u d14=%18u" },
	{ 355, "sde", "sde_perf_calc_crtc", "bw_ctl_ebi=%1u bw_ctl_llcc=%2u bw_ctl_mnoc=%3u core_clk_rate=%4u "
	  "crtc=%5u ib_ebi=%6u ib_llcc=%7u ib_mnoc=%8u" },
	{ 356, "sde", "sde_perf_crtc_update", "bw_ctl_ebi=%1u bw_ctl_llcc=%2u bw_ctl_mnoc=%3u core_clk_rate=%4u "
	  "crtc=%5u params=%6d per_pipe_ib_ebi=%7u per_pipe_ib_llcc=%8u per_pipe_ib_mnoc=%9u stop_req=%10u "
	  "update_bus=%11u update_clk=%12u" },
	{ 357, "sde", "sde_perf_set_qos_luts", "fl=%1u fmt=%2u lut=%3u lut_usage=%4u pnum=%5u rt=%6u" },
	{ 358, "sde", "sde_perf_update_bus", "ab_quota=%1u bus_id=%2u client=%3d ib_quota=%4u" },
	{ 359, "kmem", "rss_stat_throttled", "%3omm_id=%3u %1ocurr=%1u type=%2m size=%4dB" },
	{ 360, "net", "netif_receive_skb", "len=%1u name=%2s skbaddr=%3u" },
	{ 361, "net", "net_dev_xmit", "len=%1u name=%2s rc=%3d skbaddr=%4u" },
	{ 362, "sock", "inet_sock_set_state", "daddr=%1u dport=%2u family=%3u newstate=%4d oldstate=%5d protocol=%6u "
	  "saddr=%7u skaddr=%8u sport=%9u" },
	{ 363, "tcp", "tcp_retransmit_skb", "daddr=%1u dport=%2u saddr=%3u skaddr=%4u skbaddr=%5u sport=%6u "
	  "state=%7d" },
	{ 364, "cros_ec", "cros_ec_sensorhub_data", "current_time=%1d current_timestamp=%2d delta=%3d "
	  "ec_fifo_timestamp=%4u ec_sensor_num=%5u fifo_timestamp=%6d" },
	{ 365, "net", "napi_gro_receive_entry", "data_len=%1u gso_size=%2u gso_type=%3u hash=%4u ip_summed=%5u "
	  "l4_hash=%6u len=%7u mac_header=%8d mac_header_valid=%9u name=%10s napi_id=%11u nr_frags=%12u "
	  "protocol=%13u queue_mapping=%14u skbaddr=%15u truesize=%16u vlan_proto=%17u vlan_tagged=%18u "
	  "vlan_tci=%19u" },
	{ 366, "net", "napi_gro_receive_exit", "ret=%1d" },
	{ 367, "skb", "kfree_skb", "location=%1u protocol=%2u skbaddr=%3u" },
	{ 368, "kvm", "kvm_access_fault", "ipa=%1u" },
	{ 369, "kvm", "kvm_ack_irq", "irqchip=%1u pin=%2u" },
	{ 370, "kvm", "kvm_age_hva", "end=%1u start=%2u" },
	{ 371, "kvm", "kvm_age_page", "gfn=%1u hva=%2u level=%3u referenced=%4u" },
	{ 372, "kvm", "kvm_arm_clear_debug", "guest_debug=%1u" },
	{ 373, "kvm", "kvm_arm_set_dreg32", "name=%1s value=%2u" },
	{ 374, "kvm", "kvm_arm_set_regset", "len=%1d name=%2s" },
	{ 375, "kvm", "kvm_arm_setup_debug", "guest_debug=%1u vcpu=%2u" },
	{ 376, "kvm", "kvm_entry", "vcpu_pc=%1u" },
	{ 377, "kvm", "kvm_exit", "esr_ec=%1u ret=%2d vcpu_pc=%3u" },
	{ 378, "kvm", "kvm_fpu", "load=%1u" },
	{ 379, "kvm", "kvm_get_timer_map", "direct_ptimer=%1d direct_vtimer=%2d emul_ptimer=%3d vcpu_id=%4u" },
	{ 380, "kvm", "kvm_guest_fault", "hsr=%1u hxfar=%2u ipa=%3u vcpu_pc=%4u" },
	{ 381, "kvm", "kvm_handle_sys_reg", "hsr=%1u" },
	{ 382, "kvm", "kvm_hvc_arm64", "imm=%1u r0=%2u vcpu_pc=%3u" },
	{ 383, "kvm", "kvm_irq_line", "irq_num=%1d level=%2d type=%3u vcpu_idx=%4d" },
	{ 384, "kvm", "kvm_mmio", "gpa=%1u len=%2u type=%3u val=%4u" },
	{ 385, "kvm", "kvm_mmio_emulate", "cpsr=%1u instr=%2u vcpu_pc=%3u" },
	{ 386, "kvm", "kvm_set_guest_debug", "guest_debug=%1u vcpu=%2u" },
	{ 387, "kvm", "kvm_set_irq", "gsi=%1u irq_source_id=%2d level=%3d" },
	{ 388, "kvm", "kvm_set_spte_hva", "hva=%1u" },
	{ 389, "kvm", "kvm_set_way_flush", "cache=%1u vcpu_pc=%2u" },
	{ 390, "kvm", "kvm_sys_access", "CRm=%1u CRn=%2u Op0=%3u Op1=%4u Op2=%5u is_write=%6u name=%7s vcpu_pc=%8u" },
	{ 391, "kvm", "kvm_test_age_hva", "hva=%1u" },
	{ 392, "kvm", "kvm_timer_emulate", "should_fire=%1u timer_idx=%2d" },
	{ 393, "kvm", "kvm_timer_hrtimer_expire", "timer_idx=%1d" },
	{ 394, "kvm", "kvm_timer_restore_state", "ctl=%1u cval=%2u timer_idx=%3d" },
	{ 395, "kvm", "kvm_timer_save_state", "ctl=%1u cval=%2u timer_idx=%3d" },
	{ 396, "kvm", "kvm_timer_update_irq", "irq=%1u level=%2d vcpu_id=%3u" },
	{ 397, "kvm", "kvm_toggle_cache", "now=%1u vcpu_pc=%2u was=%3u" },
	{ 398, "kvm", "kvm_unmap_hva_range", "end=%1u start=%2u" },
	{ 399, "kvm", "kvm_userspace_exit", "reason=%1u" },
	{ 400, "kvm", "kvm_vcpu_wakeup", "ns=%1u valid=%2u waited=%3u" },
	{ 401, "kvm", "kvm_wfx_arm64", "is_wfe=%1u vcpu_pc=%2u" },
	{ 402, "kvm", "trap_reg", "fn=%1s is_write=%2u reg=%3d write_value=%4u" },
	{ 403, "kvm", "vgic_update_irq_pending", "irq=%1u level=%2u vcpu_id=%3u" },
	{ 406, "ufs", "ufshcd_command", "dev_name=%1s db=%2u intr=%3u lba=%4u opcode=%5u str=%6s tag=%7u "
	  "transfer_len=%8d group_id=%9u str_t=%10u" },
	{ 407, "ufs", "ufshcd_clk_gating", "dev_name=%1s state=%2d" },
	{ 409, "drm", "drm_vblank_event", "crtc=%1d high_prec=%2u seq=%3u time=%4d" },
	{ 410, "drm", "drm_vblank_event_delivered", "crtc=%1d file=%2u seq=%3u" },
	{ 411, "gpu_scheduler", "drm_sched_job", "entity=%1u fence=%2u hw_job_count=%3d id=%4u job_count=%5u "
	  "name=%6s" },
	{ 412, "gpu_scheduler", "drm_run_job", "entity=%1u fence=%2u hw_job_count=%3d id=%4u job_count=%5u name=%6s" },
	{ 413, "gpu_scheduler", "drm_sched_process_job", "fence=%1u" },
	{ 414, "dma_fence", "dma_fence_init", "context=%1u driver=%2s seqno=%3u timeline=%4s" },
	{ 415, "dma_fence", "dma_fence_emit", "context=%1u driver=%2s seqno=%3u timeline=%4s" },
	{ 416, "dma_fence", "dma_fence_signaled", "context=%1u driver=%2s seqno=%3u timeline=%4s" },
	{ 417, "dma_fence", "dma_fence_wait_start", "context=%1u driver=%2s seqno=%3u timeline=%4s" },
	{ 418, "dma_fence", "dma_fence_wait_end", "context=%1u driver=%2s seqno=%3u timeline=%4s" },
	{ 419, "f2fs", "f2fs_iostat", "app_bio=%1u app_brio=%2u app_dio=%3u app_drio=%4u app_mio=%5u app_mrio=%6u "
	  "app_rio=%7u app_wio=%8u dev=%9D fs_cdrio=%10u fs_cp_dio=%11u fs_cp_mio=%12u fs_cp_nio=%13u "
	  "fs_dio=%14u fs_discard=%15u fs_drio=%16u fs_gc_dio=%17u fs_gc_nio=%18u fs_gdrio=%19u fs_mio=%20u "
	  "fs_mrio=%21u fs_nio=%22u fs_nrio=%23u" },
	{ 420, "f2fs", "f2fs_iostat_latency", "d_rd_avg=%1u d_rd_cnt=%2u d_rd_peak=%3u d_wr_as_avg=%4u "
	  "d_wr_as_cnt=%5u d_wr_as_peak=%6u d_wr_s_avg=%7u d_wr_s_cnt=%8u d_wr_s_peak=%9u dev=%10D "
	  "m_rd_avg=%11u m_rd_cnt=%12u m_rd_peak=%13u m_wr_as_avg=%14u m_wr_as_cnt=%15u m_wr_as_peak=%16u "
	  "m_wr_s_avg=%17u m_wr_s_cnt=%18u m_wr_s_peak=%19u n_rd_avg=%20u n_rd_cnt=%21u n_rd_peak=%22u "
	  "n_wr_as_avg=%23u n_wr_as_cnt=%24u n_wr_as_peak=%25u n_wr_s_avg=%26u n_wr_s_cnt=%27u n_wr_s_peak=%28u" },
	{ 421, "sched", "sched_cpu_util_cfs", "active=%1d capacity=%2u capacity_orig=%3u cpu=%4u cpu_importance=%5u "
	  "cpu_util=%6u exit_lat=%7u group_capacity=%8u grp_overutilized=%9u idle_cpu=%10u nr_running=%11u "
	  "spare_cap=%12d task_fits=%13u wake_group_util=%14u wake_util=%15u" },
	{ 422, "v4l2", "v4l2_qbuf", "bytesused=%1u field=%2u flags=%3u index=%4u minor=%5d sequence=%6u "
	  "timecode_flags=%7u timecode_frames=%8u timecode_hours=%9u timecode_minutes=%10u timecode_seconds=%11u "
	  "timecode_type=%12u timecode_userbits0=%13u timecode_userbits1=%14u timecode_userbits2=%15u "
	  "timecode_userbits3=%16u timestamp=%17d type=%18u" },
	{ 423, "v4l2", "v4l2_dqbuf", "bytesused=%1u field=%2u flags=%3u index=%4u minor=%5d sequence=%6u "
	  "timecode_flags=%7u timecode_frames=%8u timecode_hours=%9u timecode_minutes=%10u timecode_seconds=%11u "
	  "timecode_type=%12u timecode_userbits0=%13u timecode_userbits1=%14u timecode_userbits2=%15u "
	  "timecode_userbits3=%16u timestamp=%17d type=%18u" },
	{ 424, "v4l2", "vb2_v4l2_buf_queue", "field=%1u flags=%2u minor=%3d sequence=%4u timecode_flags=%5u "
	  "timecode_frames=%6u timecode_hours=%7u timecode_minutes=%8u timecode_seconds=%9u timecode_type=%10u "
	  "timecode_userbits0=%11u timecode_userbits1=%12u timecode_userbits2=%13u timecode_userbits3=%14u "
	  "timestamp=%15d" },
	{ 425, "v4l2", "vb2_v4l2_buf_done", "field=%1u flags=%2u minor=%3d sequence=%4u timecode_flags=%5u "
	  "timecode_frames=%6u timecode_hours=%7u timecode_minutes=%8u timecode_seconds=%9u timecode_type=%10u "
	  "timecode_userbits0=%11u timecode_userbits1=%12u timecode_userbits2=%13u timecode_userbits3=%14u "
	  "timestamp=%15d" },
	{ 426, "v4l2", "vb2_v4l2_qbuf", "field=%1u flags=%2u minor=%3d sequence=%4u timecode_flags=%5u "
	  "timecode_frames=%6u timecode_hours=%7u timecode_minutes=%8u timecode_seconds=%9u timecode_type=%10u "
	  "timecode_userbits0=%11u timecode_userbits1=%12u timecode_userbits2=%13u timecode_userbits3=%14u "
	  "timestamp=%15d" },
	{ 427, "v4l2", "vb2_v4l2_dqbuf", "field=%1u flags=%2u minor=%3d sequence=%4u timecode_flags=%5u "
	  "timecode_frames=%6u timecode_hours=%7u timecode_minutes=%8u timecode_seconds=%9u timecode_type=%10u "
	  "timecode_userbits0=%11u timecode_userbits1=%12u timecode_userbits2=%13u timecode_userbits3=%14u "
	  "timestamp=%15d" },
	{ 428, "panel", "dsi_cmd_fifo_status", "header=%1u payload=%2u" },
	{ 429, "panel", "dsi_rx", "cmd=%1u" },
	{ 430, "panel", "dsi_tx", "last=%1u type=%3u" },
	{ 431, "android_fs", "android_fs_dataread_end", "bytes=%1d ino=%2u offset=%3d" },
	{ 432, "android_fs", "android_fs_dataread_start", "bytes=%1d cmdline=%2s i_size=%3d ino=%4u offset=%5d "
	  "pathbuf=%6s pid=%7d" },
	{ 433, "android_fs", "android_fs_datawrite_end", "bytes=%1d ino=%2u offset=%3d" },
	{ 434, "android_fs", "android_fs_datawrite_start", "bytes=%1d cmdline=%2s i_size=%3d ino=%4u offset=%5d "
	  "pathbuf=%6s pid=%7d" },
	{ 435, "android_fs", "android_fs_fsync_end", "bytes=%1d ino=%2u offset=%3d" },
	{ 436, "android_fs", "android_fs_fsync_start", "cmdline=%1s i_size=%2d ino=%3u pathbuf=%4s pid=%5d" },
	{ 439, "virtio_video", "virtio_video_cmd", "stream_id=%1u type=%2u" },
	{ 440, "virtio_video", "virtio_video_cmd_done", "stream_id=%1u type=%2u" },
	{ 441, "virtio_video", "virtio_video_resource_queue", "data_size0=%1u data_size1=%2u data_size2=%3u "
	  "data_size3=%4u queue_type=%5u resource_id=%6d stream_id=%7d timestamp=%8u" },
	{ 442, "virtio_video", "virtio_video_resource_queue_done", "data_size0=%1u data_size1=%2u data_size2=%3u "
	  "data_size3=%4u queue_type=%5u resource_id=%6d stream_id=%7d timestamp=%8u" },
	{ 443, "vmscan", "mm_shrink_slab_start", "cache_items=%1u delta=%2u gfp_flags=%3u lru_pgs=%4u "
	  "nr_objects_to_shrink=%5d pgs_scanned=%6u shr=%7u shrink=%8u total_scan=%9u nid=%10d priority=%11d" },
	{ 444, "vmscan", "mm_shrink_slab_end", "new_scan=%1d retval=%2d shr=%3u shrink=%4u total_scan=%5d "
	  "unused_scan=%6d nid=%7d" },
	{ 445, "trusty", "trusty_smc", "r0=%1u r1=%2u r2=%3u r3=%4u" },
	{ 446, "trusty", "trusty_smc_done", "ret=%1u" },
	{ 447, "trusty", "trusty_std_call32", "r0=%1u r1=%2u r2=%3u r3=%4u" },
	{ 448, "trusty", "trusty_std_call32_done", "ret=%1d" },
	{ 449, "trusty", "trusty_share_memory", "len=%1u lend=%2u nents=%3u" },
	{ 450, "trusty", "trusty_share_memory_done", "handle=%1u len=%2u lend=%3u nents=%4u ret=%5d" },
	{ 451, "trusty", "trusty_reclaim_memory", "id=%1u" },
	{ 452, "trusty", "trusty_reclaim_memory_done", "id=%1u ret=%2d" },
	{ 453, "trusty", "trusty_irq", "irq=%1d" },
	{ 454, "trusty", "trusty_ipc_handle_event", "chan=%1u event_id=%2u srv_name=%3s" },
	{ 455, "trusty", "trusty_ipc_connect", "chan=%1u port=%2s state=%3d" },
	{ 456, "trusty", "trusty_ipc_connect_end", "chan=%1u err=%2d state=%3d" },
	{ 457, "trusty", "trusty_ipc_write", "buf_id=%1u chan=%2u kind_shm=%3d len_or_err=%4d shm_cnt=%5u "
	  "srv_name=%6s" },
	{ 458, "trusty", "trusty_ipc_poll", "chan=%1u poll_mask=%2u srv_name=%3s" },
	{ 460, "trusty", "trusty_ipc_read", "chan=%1u srv_name=%2s" },
	{ 461, "trusty", "trusty_ipc_read_end", "buf_id=%1u chan=%2u len_or_err=%3d shm_cnt=%4u srv_name=%5s" },
	{ 462, "trusty", "trusty_ipc_rx", "buf_id=%1u chan=%2u srv_name=%3s" },
	{ 464, "trusty", "trusty_enqueue_nop", "arg1=%1u arg2=%2u arg3=%3u" },
	{ 465, "cma", "cma_alloc_start", "align=%1u count=%2u name=%3s" },
	{ 466, "cma", "cma_alloc_info", "align=%1u count=%2u err_iso=%3u err_mig=%4u err_test=%5u name=%6s "
	  "nr_mapped=%7u nr_migrated=%8u nr_reclaimed=%9u pfn=%10u" },
	{ 468, "virtio_gpu", "virtio_gpu_cmd_queue", "ctx_id=%1u dev=%2d fence_id=%3u flags=%4u name=%5s "
	  "num_free=%6u seqno=%7u type=%8u vq=%9u" },
	{ 469, "virtio_gpu", "virtio_gpu_cmd_response", "ctx_id=%1u dev=%2d fence_id=%3u flags=%4u name=%5s "
	  "num_free=%6u seqno=%7u type=%8u vq=%9u" },
	{ 470, "mali", "mali_KCPU_CQS_SET", "id=%1u info_val1=%2u info_val2=%3u kctx_id=%4u kctx_tgid=%5d" },
	{ 471, "mali", "mali_KCPU_CQS_WAIT_START", "id=%1u info_val1=%2u info_val2=%3u kctx_id=%4u kctx_tgid=%5d" },
	{ 472, "mali", "mali_KCPU_CQS_WAIT_END", "id=%1u info_val1=%2u info_val2=%3u kctx_id=%4u kctx_tgid=%5d" },
	{ 473, "mali", "mali_KCPU_FENCE_SIGNAL", "info_val1=%1u info_val2=%2u kctx_tgid=%3d kctx_id=%4u id=%5u" },
	{ 474, "mali", "mali_KCPU_FENCE_WAIT_START", "info_val1=%1u info_val2=%2u kctx_tgid=%3d kctx_id=%4u id=%5u" },
	{ 475, "mali", "mali_KCPU_FENCE_WAIT_END", "info_val1=%1u info_val2=%2u kctx_tgid=%3d kctx_id=%4u id=%5u" },
	{ 476, "hyp", "hyp_enter", "" },
	{ 477, "hyp", "hyp_exit", "" },
	{ 478, "hyp", "host_hcall", "id=%1u invalid=%2u" },
	{ 479, "hyp", "host_smc", "id=%1u forwarded=%2u" },
	{ 480, "hyp", "host_mem_abort", "esr=%1u addr=%2u" },
	{ 481, "synthetic", "suspend_resume_minimal", "start=%1u" },
	{ 482, "mali", "mali_CSF_INTERRUPT_START", "kctx_tgid=%1d kctx_id=%2u info_val=%3u" },
	{ 483, "mali", "mali_CSF_INTERRUPT_END", "kctx_tgid=%1d kctx_id=%2u info_val=%3u" },
	{ 485, "binder", "binder_command", "cmd=%1u" },
	{ 486, "binder", "binder_return", "cmd=%1u" },
	{ 487, "perf_trace_counters", "sched_switch_with_ctrs", "old_pid=%1d new_pid=%2d cctr=%3u ctr0=%4u ctr1=%5u "
	  "ctr2=%6u ctr3=%7u lctr0=%8u lctr1=%9u ctr4=%10u ctr5=%11u prev_comm=%12s prev_pid=%13d cyc=%14u "
	  "inst=%15u stallbm=%16u l3dm=%17u next_pid=%18d next_comm=%19s prev_state=%20d amu0=%21u amu1=%22u "
	  "amu2=%23u" },
	{ 488, "power", "gpu_work_period", "gpu_id=%1u uid=%2u start_time_ns=%3u end_time_ns=%4u "
	  "total_active_duration_ns=%5u" },
	{ 489, "rpm", "rpm_status", "name=%1s status=%2d" },
	{ 492, "dpu", "dsi_cmd_fifo_status", "header=%1u payload=%2u" },
	{ 493, "dpu", "dsi_rx", "cmd=%1u" },
	{ 494, "dpu", "dsi_tx", "type=%1u last=%3u delay_ms=%4u" },
	{ 495, "f2fs", "f2fs_background_gc", "dev=%1D wait_ms=%2u prefree=%3u free=%4u" },
	{ 496, "f2fs", "f2fs_gc_begin", "dev=%1D sync=%2u background=%3u dirty_nodes=%4d dirty_dents=%5d "
	  "dirty_imeta=%6d free_sec=%7u free_seg=%8u reserved_seg=%9d prefree_seg=%10u gc_type=%11d "
	  "no_bg_gc=%12u nr_free_secs=%13u" },
	{ 497, "f2fs", "f2fs_gc_end", "dev=%1D ret=%2d seg_freed=%3d sec_freed=%4d dirty_nodes=%5d dirty_dents=%6d "
	  "dirty_imeta=%7d free_sec=%8u free_seg=%9u reserved_seg=%10d prefree_seg=%11u" },
	{ 498, "fastrpc", "fastrpc_dma_free", "cid=%1d phys=%2u size=%3u" },
	{ 499, "fastrpc", "fastrpc_dma_alloc", "cid=%1d phys=%2u size=%3u attr=%4u mflags=%5d" },
	{ 500, "fastrpc", "fastrpc_dma_unmap", "cid=%1d phys=%2u size=%3u" },
	{ 501, "fastrpc", "fastrpc_dma_map", "cid=%1d fd=%2d phys=%3u size=%4u len=%5u attr=%6u mflags=%7d" },
	{ 502, "google_icc_trace", "google_icc_event", "event=%1s timestamp=%2u" },
	{ 503, "google_irm_trace", "google_irm_event", "event=%1s timestamp=%2u" },
	{ 504, "power", "device_pm_callback_start", "device=%1s driver=%2s parent=%3s pm_ops=%4s event=%5d" },
	{ 505, "power", "device_pm_callback_end", "device=%1s driver=%2s error=%3d" },
	{ 506, "thermal_exynos", "thermal_exynos_acpm_bulk", "tz_id=%1u current_temp=%2u ctrl_temp=%3u "
	  "cdev_state=%4u pid_et_p=%5d pid_power_range=%6d pid_p=%7d pid_i=%8d k_p=%9d k_i=%10d timestamp=%11u" },
	{ 507, "thermal_exynos", "thermal_exynos_acpm_high_overhead", "tz_id=%1d current_temp=%2u ctrl_temp=%3u "
	  "cdev_state=%4u pid_et_p=%5d k_p=%6d k_i=%7d" },
	{ 508, "dcvsh", "dcvsh_freq", "cpu=%1u freq=%2u" },
	{ 509, "kgsl", "kgsl_gpu_frequency", "gpu_freq=%1u gpu_id=%2u" },
	{ 518, "mali", "mali_PM_MCU_IN_SLEEP", "kctx_tgid=%1d kctx_id=%2u info_val=%3u" },
	{ 519, "mali", "mali_PM_MCU_OFF", "kctx_tgid=%1d kctx_id=%2u info_val=%3u" },
	{ 520, "mali", "mali_PM_MCU_ON", "kctx_tgid=%1d kctx_id=%2u info_val=%3u" },
	{ 523, "mali", "mali_PM_MCU_ON_HALT", "kctx_tgid=%1d kctx_id=%2u info_val=%3u" },
	{ 524, "mali", "mali_PM_MCU_ON_HWCNT_DISABLE", "kctx_tgid=%1d kctx_id=%2u info_val=%3u" },
	{ 525, "mali", "mali_PM_MCU_ON_HWCNT_ENABLE", "kctx_tgid=%1d kctx_id=%2u info_val=%3u" },
	{ 526, "mali", "mali_PM_MCU_ON_PEND_HALT", "kctx_tgid=%1d kctx_id=%2u info_val=%3u" },
	{ 527, "mali", "mali_PM_MCU_ON_PEND_SLEEP", "kctx_tgid=%1d kctx_id=%2u info_val=%3u" },
	{ 528, "mali", "mali_PM_MCU_ON_SLEEP_INITIATE", "kctx_tgid=%1d kctx_id=%2u info_val=%3u" },
	{ 529, "mali", "mali_PM_MCU_PEND_OFF", "kctx_tgid=%1d kctx_id=%2u info_val=%3u" },
	{ 530, "mali", "mali_PM_MCU_PEND_ON_RELOAD", "kctx_tgid=%1d kctx_id=%2u info_val=%3u" },
	{ 531, "mali", "mali_PM_MCU_POWER_DOWN", "kctx_tgid=%1d kctx_id=%2u info_val=%3u" },
	{ 532, "mali", "mali_PM_MCU_RESET_WAIT", "kctx_tgid=%1d kctx_id=%2u info_val=%3u" },
	{ 533, "bcl_exynos", "bcl_irq_trigger", "id=%1d throttle=%2d cpu0_limit=%3d cpu1_limit=%4d cpu2_limit=%5d "
	  "tpu_limit=%6d gpu_limit=%7d voltage=%8d capacity=%9d" },
	{ 534, "kgsl", "kgsl_adreno_cmdbatch_queued", "id=%1u timestamp=%2u queued=%3u flags=%4u prio=%5u" },
	{ 535, "kgsl", "kgsl_adreno_cmdbatch_submitted", "id=%1u timestamp=%2u inflight=%3d flags=%4u ticks=%5u "
	  "secs=%6u usecs=%7u prio=%8d rb_id=%9d rptr=%10u wptr=%11u q_inflight=%12d dispatch_queue=%13d" },
	{ 536, "kgsl", "kgsl_adreno_cmdbatch_sync", "id=%1u timestamp=%2u ticks=%3u prio=%4d" },
	{ 537, "kgsl", "kgsl_adreno_cmdbatch_retired", "id=%1u timestamp=%2u inflight=%3d recovery=%4u flags=%5u "
	  "start=%6u retire=%7u prio=%8d rb_id=%9d rptr=%10u wptr=%11u q_inflight=%12d fault_recovery=%13u "
	  "dispatch_queue=%14u submitted_to_rb=%15u retired_on_gmu=%16u active=%17u" },
	{ 538, "pixel_mm", "pixel_mm_kswapd_wake", "whatever=%1d" },
	{ 539, "pixel_mm", "pixel_mm_kswapd_done", "delta_nr_scanned=%1u delta_nr_reclaimed=%2u "
	  "delta_nr_allocated=%3u duration_ns=%4u" },
	{ 540, "sched", "sched_wakeup_task_attr", "pid=%1d cpu_affinity=%2u task_util=%3u uclamp_min=%4u "
	  "vruntime=%5u" },
	{ 541, "devfreq", "devfreq_frequency", "dev_name=%1s freq=%2u prev_freq=%3u busy_time=%4u total_time=%5u" },
	{ 543, "cpm_trace", "param_set_value_cpm", "body=%1s value=%2u timestamp=%3d" },
	{ 544, "fs", "do_sys_open", "filename=%1s flags=%2d mode=%3d" },
	{ 545, "fs", "open_exec", "filename=%1s" },
	{ 548, "mali", "mali_gpu_power_state", "change_ns=%1u from_state=%2d to_state=%3d" },
	{ 549, "dpu", "disp_dpu_underrun", "id=%1d frames_pending=%2d vsync_count=%3d" },
	{ 550, "dpu", "disp_vblank_irq_enable", "id=%1d output_id=%2d enable=%3d" },
	{ 561, "dwc3", "dwc3_alloc_request", "name=%1s req=%2u actual=%3u length=%4u status=%5d zero=%6d "
	  "short_not_ok=%7d no_interrupt=%8d" },
	{ 562, "dwc3", "dwc3_complete_trb", "name=%1s trb=%2u allocated=%3u queued=%4u bpl=%5u bph=%6u size=%7u "
	  "ctrl=%8u type=%9u enqueue=%10u dequeue=%11u" },
	{ 563, "dwc3", "dwc3_ctrl_req", "bRequestType=%1u bRequest=%2u wValue=%3u wIndex=%4u wLength=%5u str=%6s" },
	{ 564, "dwc3", "dwc3_ep_dequeue", "name=%1s req=%2u actual=%3u length=%4u status=%5d zero=%6d "
	  "short_not_ok=%7d no_interrupt=%8d" },
	{ 565, "dwc3", "dwc3_ep_queue", "name=%1s req=%2u actual=%3u length=%4u status=%5d zero=%6d "
	  "short_not_ok=%7d no_interrupt=%8d" },
	{ 566, "dwc3", "dwc3_event", "event=%1u ep0state=%2u str=%3s" },
	{ 567, "dwc3", "dwc3_free_request", "name=%1s req=%2u actual=%3u length=%4u status=%5d zero=%6d "
	  "short_not_ok=%7d no_interrupt=%8d" },
	{ 568, "dwc3", "dwc3_gadget_ep_cmd", "name=%1s cmd=%2u param0=%3u param1=%4u param2=%5u cmd_status=%6d" },
	{ 569, "dwc3", "dwc3_gadget_ep_disable", "name=%1s maxpacket=%2u maxpacket_limit=%3u max_streams=%4u "
	  "maxburst=%5u flags=%6u direction=%7u trb_enqueue=%8u trb_dequeue=%9u" },
	{ 570, "dwc3", "dwc3_gadget_ep_enable", "name=%1s maxpacket=%2u maxpacket_limit=%3u max_streams=%4u "
	  "maxburst=%5u flags=%6u direction=%7u trb_enqueue=%8u trb_dequeue=%9u" },
	{ 571, "dwc3", "dwc3_gadget_generic_cmd", "cmd=%1u param=%2u status=%3d" },
	{ 572, "dwc3", "dwc3_gadget_giveback", "name=%1s req=%2u actual=%3u length=%4u status=%5d zero=%6d "
	  "short_not_ok=%7d no_interrupt=%8d" },
	{ 573, "dwc3", "dwc3_prepare_trb", "name=%1s trb=%2u allocated=%3u queued=%4u bpl=%5u bph=%6u size=%7u "
	  "ctrl=%8u type=%9u enqueue=%10u dequeue=%11u" },
	{ 574, "dwc3", "dwc3_readl", "base=%1u offset=%2u value=%3u msg=%4s" },
	{ 575, "dwc3", "dwc3_writel", "base=%1u offset=%2u value=%3u msg=%4s" },
	{ 576, "cma", "cma_alloc_finish", "name=%1s pfn=%2u page=%3u count=%4u align=%5u errorno=%6d" },
	{ 577, "kmem", "mm_alloc_contig_migrate_range_info", "start=%1u end=%2u nr_migrated=%3u nr_reclaimed=%4u "
	  "nr_mapped=%5u migratetype=%6d" },
	{ 578, "hyp", "host_ffa_call", "func_id=%1u res_a1=%2u res_a2=%3u res_a3=%4u res_a4=%5u handled=%6d err=%7d" },
	{ 579, "kmem", "dmabuf_rss_stat", "rss=%1u rss_delta=%2d i_ino=%3u" },
	{ 580, "hyp", "iommu_idmap", "from=%1u to=%2u prot=%3d" },
	{ 581, "hyp", "psci_mem_protect", "count=%1u was=%2u" },
	{ 582, "hypervisor", "hypervisor_host_hcall", "id=%1u invalid=%2u" },
	{ 583, "hypervisor", "hypervisor_host_smc", "id=%1u forwarded=%2u" },
	{ 584, "hypervisor", "hypervisor_hyp_exit", "" },
	{ 585, "hypervisor", "hypervisor_iommu_idmap", "from=%1u to=%2u prot=%3d" },
	{ 586, "hypervisor", "hypervisor_psci_mem_protect", "count=%1u was=%2u" },
	{ 587, "hypervisor", "hypervisor_host_mem_abort", "esr=%1u addr=%2u" },
	{ 588, "hypervisor", "hypervisor_hyp_enter", "" },
	{ 589, "hypervisor", "hypervisor_iommu_idmap_complete", "map=%1u" },
	{ 590, "hypervisor", "hypervisor_vcpu_illegal_trap", "esr=%1u" },
	{ 591, "gpu_scheduler", "drm_sched_job_add_dep", "fence_context=%1u fence_seqno=%2u ctx=%3u seqno=%4u" },
	{ 592, "gpu_scheduler", "drm_sched_job_done", "fence_context=%1u fence_seqno=%2u" },
	{ 593, "gpu_scheduler", "drm_sched_job_queue", "name=%1s job_count=%2u hw_job_count=%3d dev=%4s "
	  "fence_context=%5u fence_seqno=%6u client_id=%7u" },
	{ 594, "gpu_scheduler", "drm_sched_job_run", "name=%1s job_count=%2u hw_job_count=%3d dev=%4s "
	  "fence_context=%5u fence_seqno=%6u client_id=%7u" },
	{ 595, "gpu_scheduler", "drm_sched_job_unschedulable", "fence_context=%1u fence_seqno=%2u ctx=%3u seqno=%4u" },
	{ 596, "fwtp_ftrace", "fwtp_perfetto_counter", "timestamp=%1u track_id=%2u category=%3s name=%4s value=%5u" },
	{ 597, "scsi", "scsi_dispatch_cmd_error", "host_no=%1u channel=%2u id=%3u lun=%4u rtn=%5d opcode=%6u "
	  "cmd_len=%7u data_sglen=%8u prot_sglen=%9u prot_op=%10u driver_tag=%12d scheduler_tag=%13d" },
	{ 598, "scsi", "scsi_dispatch_cmd_timeout", "host_no=%1u channel=%2u id=%3u lun=%4u result=%5d opcode=%6u "
	  "cmd_len=%7u data_sglen=%8u prot_sglen=%9u prot_op=%10u driver_tag=%12d scheduler_tag=%13d "
	  "sense_key=%14u asc=%15u ascq=%16u" },
	{ 599, "scsi", "scsi_eh_wakeup", "host_no=%1u" },
	{ 600, "fwtp_ftrace", "fwtp_perfetto_slice", "timestamp=%1u track_id=%2u category=%3s name=%4s begin=%5u" },
	{ 601, "power", "gpu_power_state", "old_state=%1d new_state=%2d" },
	{ 602, "panel", "gram_collision", "panel_index=%1d collision_cnt=%2u" },
	{ 603, "f2fs", "f2fs_lock_elapsed_time", "dev=%1D comm=%2s pid=%3d prio=%4d ioprio_class=%5d ioprio_data=%6d "
	  "lock_name=%7u is_write=%8u total_time=%9u running_time=%10u runnable_time=%11u io_sleep_time=%12u "
	  "other_time=%13u" },
	{ 604, "sched", "sched_group_tracker", "comm=%1s pid=%2d group=%3s group_num=%4d" },
	{ 605, "dpu", "disp_frame_done_timeout", "display_id=%1d output_id=%2u frames_pending=%3d te_count=%4d "
	  "during_disable=%5u" },
	{ 606, "dpu", "disp_frame_start_timeout", "display_id=%1d output_id=%2u frames_pending=%3d te_count=%4d" },
	{ 607, "vmscan", "mm_vmscan_memcg_reclaim_begin", "order=%1d may_writepage=%2d gfp_flags=%3u" },
	{ 608, "vmscan", "mm_vmscan_memcg_reclaim_end", "nr_reclaimed=%1u" },
	{ 609, "dpu", "disp_frame_done_missing", "display_id=%1d output_id=%2u frames_pending=%3d te_count=%4d" },
	{ 610, "dpu", "disp_frame_start_missing", "display_id=%1d output_id=%2u frames_pending=%3d te_count=%4d" },
	{ 611, "panel", "panel_settings_full", "panel_index=%1d hbm=%2u irc=%3u h_pwm=%4u fi_auto=%5u fi_manual=%6u "
	  "early_exit=%7u min_rr=%8u max_rr=%9u te_freq=%10u" },
	{ 612, "panel", "panel_settings_lite", "panel_index=%1d vrr=%2u min_rr=%3u max_rr=%4u te_freq=%5u" },
	{ 613, "dpu", "disp_dpu_line_underrun", "id=%1d frames_pending=%2d vsync_count=%3d" },
	{ 614, "power", "psci_domain_idle_exit", "cpu_id=%1u state=%2u s2idle=%3u" },
	{ 615, "power", "psci_domain_idle_enter", "cpu_id=%1u state=%2u s2idle=%3u" },
	{ 616, "pixel_metrics", "long_irq", "irq=%1d latency=%2u count=%3u" },
	{ 617, "pixel_metrics", "long_softirq", "vec_nr=%1d latency=%2u count=%3u" },
};

const size_t pf_more_ftrace_cnt = sizeof(pf_more_ftrace_rows) / sizeof(pf_more_ftrace_rows[0]);
