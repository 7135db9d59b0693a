function directory = runDirectory(name)
%RUNDIRECTORY  The absolute path of a stored run.
%   directory = wiregauge.internal.runDirectory('last') takes what wiregauge.loadRun takes. Without the MEX file the wiregauge
%   program lists the runs.
%
%   Errors: wiregauge:run if there is no run.

if exist('wiregauge_mex', 'file') == 3
    try
        directory = wiregauge_mex('runDirectory', name);
    catch problem
        wiregauge.internal.fail(problem);
    end
    return
end
[folder, file, ending] = fileparts(name);
if strcmp([file, ending], 'run.json') && isfile(name)
    name = folder;
    if isempty(folder)
        name = '.';
    end
end
if isfile(fullfile(name, 'run.json'))
    [~, found] = fileattrib(name);
    directory = found.Name;
    return
end
runs = wiregauge.internal.answered('runs', {}, {});
if isempty(runs)
    wiregauge.internal.fail('wiregauge:run', 'there is no stored run');
end
readable = ~cellfun(@isempty, {runs.kind});
if strcmp(name, 'last')
    at = find(readable, 1, 'last');
else
    at = find(strcmp({runs.name}, name));
    if isempty(at)
        at = find(strncmp({runs.name}, name, numel(name)));
    end
end
if numel(at) > 1
    wiregauge.internal.fail('wiregauge:run', 'several runs begin with "%s":\n  %s', name, strjoin({runs(at).name}, sprintf('\n  ')));
elseif isempty(at)
    wiregauge.internal.fail('wiregauge:run', 'there is no run "%s"; `wiregauge runs` lists the stored runs', name);
end
directory = runs(at).dir;
end
