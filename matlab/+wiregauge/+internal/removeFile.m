function removeFile(file)
%REMOVEFILE  Delete a file if it is there.
%   tidy = onCleanup(@() wiregauge.internal.removeFile(file)) deletes it when the function ends.

if isfile(file)
    delete(file);
end
end
