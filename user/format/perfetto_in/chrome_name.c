// SPDX-License-Identifier: GPL-2.0
/*
 * Processes and threads of Chrome say what they are by a number; these are the names that Chrome gives them.
 */
#include "reader_p.h"

static const char *const process_names[] = {
	[1] = "Browser", [2] = "Renderer", [3] = "Utility", [4] = "SandboxHelper",
	[5] = "PROCESS_SANDBOX_HELPER", [6] = "Gpu", [7] = "PpapiPlugin", [8] = "PpapiBroker",
	[9] = "Service: network.mojom.NetworkService",
	[10] = "Service: tracing.mojom.TracingService",
	[11] = "Service: storage.mojom.StorageService", [12] = "Service: audio.mojom.AudioService",
	[13] = "Service: data_decoder.mojom.DataDecoderService",
	[14] = "Service: chrome.mojom.UtilWin",
	[15] = "Service: proxy_resolver.mojom.ProxyResolverFactory",
	[16] = "Service: media.mojom.CdmServiceBroker",
	[17] = "Service: video_capture.mojom.VideoCaptureService",
	[18] = "Service: unzip.mojom.Unzipper", [19] = "Service: mirroring.mojom.MirroringService",
	[20] = "Service: patch.mojom.FilePatcher", [21] = "Service: chromeos.tts.mojom.TtsService",
	[22] = "Service: printing.mojom.PrintingService",
	[23] = "Service: quarantine.mojom.Quarantine",
	[24] = "Service: chromeos.local_search_service.mojom.LocalSearchService",
	[25] = "Service: chromeos.assistant.mojom.AssistantAudioDecoderFactory",
	[26] = "Service: chrome.mojom.FileUtilService",
	[27] = "Service: printing.mojom.PrintCompositor",
	[28] = "Service: paint_preview.mojom.PaintPreviewCompositorCollection",
	[29] = "Service: media.mojom.SpeechRecognitionService",
	[30] = "Service: device.mojom.XRDeviceService",
	[31] = "Service: chrome.mojom.UtilReadIcon",
	[32] = "Service: language_detection.mojom.LanguageDetectionService",
	[33] = "Service: sharing.mojom.Sharing", [34] = "Service: chrome.mojom.MediaParserFactory",
	[35] = "Service: qrcode_generator.mojom.QRCodeService",
	[36] = "Service: chrome.mojom.ProfileImport",
	[37] = "Service: chromeos.ime.mojom.ImeService",
	[38] = "Service: recording.mojom.RecordingService",
	[39] = "Service: shape_detection.mojom.ShapeDetectionService", [40] = "Extension Renderer",
	[41] = "Service: media.mojom.MediaFoundationServiceBroker",
	[42] = "PROCESS_RENDERER_TOP_WEBUI",
};

static const char *const thread_names[] = {
	[1] = "CrProcessMain", [2] = "ChromeIOThread", [3] = "ThreadPoolBackgroundWorker",
	[4] = "ThreadPoolForegroundWorker", [5] = "ThreadPoolSingleThreadForegroundBlocking",
	[6] = "ThreadPoolSingleThreadBackgroundBlocking", [7] = "ThreadPoolService",
	[8] = "Compositor", [9] = "VizCompositorThread", [10] = "CompositorTileWorker",
	[11] = "ServiceWorkerThread", [12] = "NetworkService", [13] = "Chrome_ChildIOThread",
	[14] = "Chrome_IOThread", [15] = "CrBrowserMain", [16] = "CrRendererMain",
	[17] = "CrUtilityMain", [18] = "CrGpuMain", [19] = "CacheThread_BlockFile", [20] = "Media",
	[21] = "AudioOutputDevice", [22] = "AudioInputDevice", [23] = "GpuMemoryThread",
	[24] = "GpuVSyncThread", [25] = "DXVAVideoDecoderThread", [26] = "BrowserWatchdog",
	[27] = "WebRTC_Network", [28] = "Window owner thread", [29] = "WebRTC_Signaling",
	[30] = "WebRTC_Worker", [31] = "CrPPAPIMain", [32] = "GpuWatchdog", [33] = "swapper",
	[34] = "Gamepad polling thread", [35] = "WebCrypto", [36] = "Database thread",
	[37] = "Proxy Resolver", [38] = "Chrome_DevToolsADBThread", [39] = "NetworkConfigWatcher",
	[40] = "wasapi_render_thread", [41] = "LoaderLockSampler", [42] = "VSyncThread",
	[50] = "MemoryInfra", [51] = "StackSamplingProfiler", [52] = "CompositorGpuThread",
};

#define CNT(all)	(sizeof(all) / sizeof((all)[0]))

const char *pf_chrome_process(uint64_t type)
{
	return type < CNT(process_names) ? process_names[type] : NULL;
}

const char *pf_chrome_thread(uint64_t type)
{
	return type < CNT(thread_names) ? thread_names[type] : NULL;
}
